package crash

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/stint-dev/stint/internal/cli"
	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/test/await"
)

const beStint = "STINT_TEST_BE_STINT"

// TestMain lets this test binary also be the stint server that is killed, and the process host that the server starts.
func TestMain(m *testing.M) {
	if handled, code := process.HostMain(os.Args); handled {
		os.Exit(code)
	}
	if handled, code := store.ChildMain(os.Args); handled {
		os.Exit(code)
	}
	if os.Getenv(beStint) != "" {
		os.Exit(cli.Main(os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
	}
	os.Exit(m.Run())
}

// server is a stint server that is restarted whenever it was killed.
type server struct {
	dir string

	mu      sync.Mutex
	process *exec.Cmd
	ended   chan struct{}
	log     *bytes.Buffer
}

func startServer(t *testing.T) *server {
	t.Helper()
	s := &server{dir: t.TempDir()}
	s.start(t)
	t.Cleanup(func() {
		s.signal(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("the last server said:\n%s", s.log)
		}
	})
	return s
}

// start returns when the server answers.
func (s *server) start(t *testing.T) {
	t.Helper()
	s.launch(t)
	await.Until(t, "stint server to be ready", func() bool {
		select {
		case <-s.ended:
			t.Fatalf("stint server has ended by itself:\n%s", s.log)
		default:
		}
		return s.ready(t)
	})
}

func (s *server) launch(t *testing.T) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "server", "--data-dir", s.dir, "--listen", "127.0.0.1:0", "--runtime", "process")
	cmd.Env = append(os.Environ(), beStint+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	os.Remove(s.kubeconfig()) // so that a kubeconfig exists only once this server listens
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	s.mu.Lock()
	s.process, s.ended, s.log = cmd, ended, log
	s.mu.Unlock()
}

func (s *server) ready(t *testing.T) bool {
	t.Helper()
	config, err := s.config()
	if err != nil {
		return false // the kubeconfig is being written
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Get(config.Host + "/readyz")
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

func (s *server) kubeconfig() string { return filepath.Join(s.dir, "kubeconfig") }

// answerTimeout bounds a request: another program may have taken the port of the server that was killed, and never
// answer. No answer of a server takes so long, however slow the machine is.
const answerTimeout = time.Minute

func (s *server) config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig())
	if err != nil {
		return nil, err
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	config.Timeout = answerTimeout
	return config, nil
}

// signal sends a signal and waits until the server has ended.
func (s *server) signal(signal syscall.Signal) {
	s.mu.Lock()
	cmd, ended := s.process, s.ended
	s.mu.Unlock()
	cmd.Process.Signal(signal)
	<-ended
}

// killAgainAndAgain kills and restarts the server so many times, and returns when it is ready again.
func (s *server) killAgainAndAgain(t *testing.T, kills int, random *rand.Rand) {
	t.Helper()
	for range kills {
		time.Sleep(time.Duration(random.Int64N(int64(4 * time.Second))))
		s.signal(syscall.SIGKILL)
		s.start(t)
	}
}
