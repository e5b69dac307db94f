package cluster_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/cli"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

const beStint = "STINT_TEST_BE_STINT"

// TestMain makes this test binary the stint that the tests start.
func TestMain(m *testing.M) {
	if os.Getenv(beStint) != "" {
		os.Exit(cli.Main(os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
	}
	kube.Main(m, kube.Options{Users: []string{powerless}})
}

// powerless is a user without any role.
const powerless = "powerless"

// stint is a running stint controller.
type stint struct {
	cmd     *exec.Cmd
	log     *lines
	address string
	done    chan struct{}
	status  int
}

// controller starts stint controller as a user of the cluster, and kills it at the end of the test.
func controller(t *testing.T, c *kube.Cluster, user string, flags ...string) *stint {
	t.Helper()
	kubeconfig, err := c.Kubeconfig(user)
	if err != nil {
		t.Fatal(err)
	}
	s := &stint{log: &lines{}, address: freeAddress(t), done: make(chan struct{})}
	s.cmd = stintCommand(append([]string{"controller", "--kubeconfig", kubeconfig, "--metrics-bind-address", s.address}, flags...)...)
	s.cmd.Stderr = s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		s.cmd.Wait()
		s.status = s.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		s.signal(syscall.SIGKILL)
		<-s.done
		if t.Failed() {
			t.Logf("log of stint:\n%s", s.log)
		}
	})
	return s
}

func stintCommand(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), beStint+"=1")
	return cmd
}

func (s *stint) signal(signal syscall.Signal) { s.cmd.Process.Signal(signal) }

// exit waits for the end of the process and returns its exit status.
func (s *stint) exit(t *testing.T) int {
	t.Helper()
	await.Value(t, "the end of stint", s.done)
	return s.status
}

// get requests a path and returns status and body; 0 if there is no response.
func (s *stint) get(path string) (int, string) {
	answer, err := http.Get("http://" + s.address + path)
	if err != nil {
		return 0, ""
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, ""
	}
	return answer.StatusCode, string(body)
}

func (s *stint) awaitReady(t *testing.T) {
	t.Helper()
	await.Until(t, "stint to be ready", func() bool {
		select {
		case <-s.done:
			t.Fatal("it has ended")
		default:
		}
		status, _ := s.get("/readyz")
		return status == http.StatusOK
	})
}

func (s *stint) awaitLog(t *testing.T, text string) {
	t.Helper()
	await.Until(t, fmt.Sprintf("%q in the log", text), func() bool { return strings.Contains(s.log.String(), text) })
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// freeAddress returns an address with a free port below the kernel's ephemeral ports, so that no other process is likely to get it
// before the caller listens on it.
func freeAddress(t *testing.T) string {
	t.Helper()
	for {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
}
