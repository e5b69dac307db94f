package crash

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/stint-dev/stint/internal/cli"
	"github.com/stint-dev/stint/internal/node/process"
)

const beStint = "STINT_TEST_BE_STINT"

// TestMain makes this test binary the stint that is killed, and the process host that it starts.
func TestMain(m *testing.M) {
	if handled, code := process.HostMain(os.Args); handled {
		os.Exit(code)
	}
	if os.Getenv(beStint) != "" {
		os.Exit(cli.Main(os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
	}
	os.Exit(m.Run())
}

// patience is for what must happen once the server is left alone.
const patience = 5 * time.Minute

// server is a stint server that is started anew whenever it has been killed.
type server struct {
	dir string

	mu      sync.Mutex
	process *exec.Cmd
	ended   chan struct{}
	log     *bytes.Buffer
	down    []span
}

// span is a piece of time.
type span struct{ from, to time.Time }

func startServer(t *testing.T) *server {
	t.Helper()
	s := &server{dir: t.TempDir()}
	if err := s.start(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, s.log)
	}
	t.Cleanup(func() {
		s.signal(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("the last server said:\n%s", s.log)
		}
	})
	return s
}

// start returns when the server answers.
func (s *server) start(ctx context.Context) error {
	cmd := exec.Command(os.Args[0], "server", "--data-dir", s.dir, "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), beStint+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	os.Remove(s.kubeconfig()) // so that there is one when this server listens, not before
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	s.mu.Lock()
	s.process, s.ended, s.log = cmd, ended, log
	s.mu.Unlock()
	return wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		select {
		case <-ended:
			return false, errors.New("stint server has ended by itself")
		default:
		}
		config, err := s.config()
		if err != nil {
			return false, nil
		}
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			return false, err
		}
		answer, err := client.Get(config.Host + "/readyz")
		if err != nil {
			return false, nil
		}
		answer.Body.Close()
		return answer.StatusCode == 200, nil
	})
}

func (s *server) kubeconfig() string { return filepath.Join(s.dir, "kubeconfig") }

func (s *server) config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig())
	if err != nil {
		return nil, err
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	return config, nil
}

// signal sends one and waits for the end.
func (s *server) signal(signal syscall.Signal) {
	s.mu.Lock()
	cmd, ended := s.process, s.ended
	s.mu.Unlock()
	cmd.Process.Signal(signal)
	<-ended
}

// torment kills and starts the server until ctx ends; it is up then.
func (s *server) torment(ctx context.Context, random *rand.Rand) (kills int, err error) {
	for ; ; kills++ {
		up := time.NewTimer(time.Duration(random.Int64N(int64(4 * time.Second))))
		select {
		case <-up.C:
		case <-ctx.Done():
			up.Stop()
			return kills, nil
		}
		from := time.Now()
		s.signal(syscall.SIGKILL)
		if err := s.start(context.WithoutCancel(ctx)); err != nil {
			return kills, errors.Join(err, errors.New(s.log.String()))
		}
		s.down = append(s.down, span{from, time.Now()})
	}
}

// downtime is how long the server was down between two instants.
func (s *server) downtime(from, to time.Time) time.Duration {
	var sum time.Duration
	for _, d := range s.down {
		begin, end := d.from, d.to
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		sum += max(0, end.Sub(begin))
	}
	return sum
}
