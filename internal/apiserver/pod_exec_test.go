package apiserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// commands is a PodAccess whose commands are functions, by their names.
type commands map[string]func(ctx context.Context, streams runtime.Streams) (int32, error)

func (commands) Attempt(pod *corev1.Pod, container string) (runtime.ID, error) {
	return runtime.ID{PodUID: pod.UID, Container: container}, nil
}

func (c commands) Exec(ctx context.Context, _ runtime.ID, command runtime.Command, streams runtime.Streams) (int32, error) {
	return c[command.Args[0]](ctx, streams)
}

func (c commands) Attach(ctx context.Context, _ runtime.ID, streams runtime.Streams) error {
	_, err := c["attach"](ctx, streams)
	return err
}

func (commands) Dial(ctx context.Context, _ *corev1.Pod, port int32) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprint("127.0.0.1:", port))
}

// session starts a server with the commands, and returns a function that connects to one of them.
func session(t *testing.T, c commands) func(options corev1.PodExecOptions, bySPDY bool) remotecommand.Executor {
	t.Helper()
	s := apiservertest.Start(t, apiservertest.In(t.TempDir()), apiservertest.Listening(t), func(config *apiserver.Config) {
		config.Pods = func() (apiserver.PodAccess, error) { return c, nil }
	})
	config, err := clientcmd.BuildConfigFromFlags("", s.KubeconfigPath())
	if err != nil {
		t.Fatal(err)
	}
	must[*corev1.Pod](t)(s.Clientset().CoreV1().Pods("default").Create(t.Context(), pod("box"), metav1.CreateOptions{}))
	return func(options corev1.PodExecOptions, bySPDY bool) remotecommand.Executor {
		t.Helper()
		query := url.Values{"command": options.Command}
		for name, value := range map[string]bool{"stdin": options.Stdin, "stdout": options.Stdout, "stderr": options.Stderr, "tty": options.TTY} {
			query.Set(name, fmt.Sprint(value))
		}
		address, err := url.Parse(config.Host + "/api/v1/namespaces/default/pods/box/exec?" + query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		var executor remotecommand.Executor
		if bySPDY {
			executor, err = remotecommand.NewSPDYExecutor(config, "POST", address)
		} else {
			executor, err = remotecommand.NewWebSocketExecutor(config, "GET", address.String())
		}
		if err != nil {
			t.Fatal(err)
		}
		return executor
	}
}

// onEveryProtocol runs a test with WebSockets and with SPDY.
func onEveryProtocol(t *testing.T, test func(t *testing.T, bySPDY bool)) {
	t.Run("WebSocket", func(t *testing.T) { test(t, false) })
	t.Run("SPDY", func(t *testing.T) { test(t, true) })
}

var allStreams = corev1.PodExecOptions{Stdin: true, Stdout: true, Stderr: true}

func named(command string, options corev1.PodExecOptions) corev1.PodExecOptions {
	options.Command = []string{command}
	return options
}

func TestStreamsOfACommand(t *testing.T) {
	connect := session(t, commands{
		"echo": func(_ context.Context, s runtime.Streams) (int32, error) {
			// It ends when the client has closed the standard input.
			n, err := io.Copy(s.Stdout, s.Stdin)
			fmt.Fprintf(s.Stderr, "%d bytes", n)
			return 0, err
		},
		"fail":   func(context.Context, runtime.Streams) (int32, error) { return 7, nil },
		"broken": func(context.Context, runtime.Streams) (int32, error) { return 0, errors.New("no such luck") },
	})
	onEveryProtocol(t, func(t *testing.T, bySPDY bool) {
		in := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
		var out, errs bytes.Buffer
		streams := remotecommand.StreamOptions{Stdin: bytes.NewReader(in), Stdout: &out, Stderr: &errs}
		if err := connect(named("echo", allStreams), bySPDY).StreamWithContext(await.Context(t), streams); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(out.Bytes(), in) || errs.String() != fmt.Sprint(len(in), " bytes") {
			t.Errorf("%d bytes came back, and %q", out.Len(), errs.String())
		}
		output := remotecommand.StreamOptions{Stdout: io.Discard}
		err := connect(named("fail", corev1.PodExecOptions{Stdout: true}), bySPDY).StreamWithContext(await.Context(t), output)
		var exit exec.CodeExitError
		if !errors.As(err, &exit) || exit.Code != 7 {
			t.Errorf("a command that ends with 7: %v", err)
		}
		err = connect(named("broken", corev1.PodExecOptions{Stdout: true}), bySPDY).StreamWithContext(await.Context(t), output)
		if err == nil || !strings.Contains(err.Error(), "no such luck") {
			t.Errorf("a command that cannot be run: %v", err)
		}
	})
}

// oneSize is a terminal that never changes its size.
type oneSize struct {
	sizes chan remotecommand.TerminalSize
}

func (s oneSize) Next() *remotecommand.TerminalSize {
	size, ok := <-s.sizes
	if !ok {
		return nil
	}
	return &size
}

func TestATerminalHasTheSizeOfTheClients(t *testing.T) {
	connect := session(t, commands{"size": func(ctx context.Context, s runtime.Streams) (int32, error) {
		select {
		case size := <-s.Sizes:
			fmt.Fprintf(s.Stdout, "%d columns, %d rows, %t", size.Columns, size.Rows, s.Stderr == nil)
		case <-ctx.Done():
		}
		return 0, nil
	}})
	onEveryProtocol(t, func(t *testing.T, bySPDY bool) {
		sizes := oneSize{make(chan remotecommand.TerminalSize, 1)}
		sizes.sizes <- remotecommand.TerminalSize{Width: 91, Height: 33}
		defer close(sizes.sizes)
		var out bytes.Buffer
		err := connect(named("size", corev1.PodExecOptions{Stdout: true, TTY: true}), bySPDY).StreamWithContext(await.Context(t),
			remotecommand.StreamOptions{Stdout: &out, Tty: true, TerminalSizeQueue: sizes})
		if err != nil || out.String() != "91 columns, 33 rows, true" {
			t.Errorf("%v: %q", err, out.String())
		}
	})
}

// A command without output does not notice by itself that its client is gone.
func TestACommandEndsWithItsClient(t *testing.T) {
	started, ended := make(chan bool, 1), make(chan bool, 1)
	connect := session(t, commands{"wait": func(ctx context.Context, s runtime.Streams) (int32, error) {
		started <- true
		<-ctx.Done()
		ended <- true
		return 0, ctx.Err()
	}})
	onEveryProtocol(t, func(t *testing.T, bySPDY bool) {
		ctx, cancel := context.WithCancel(await.Context(t))
		done := make(chan error, 1)
		go func() {
			done <- connect(named("wait", corev1.PodExecOptions{Stdout: true}), bySPDY).StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: io.Discard})
		}()
		await.Value(t, "the start of the command", started)
		cancel()
		await.Value(t, "the end of the command", ended)
		await.Value(t, "the end of the session", done)
	})
}
