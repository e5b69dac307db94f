package apiserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/utils/exec"

	noderuntime "github.com/stint-dev/stint/internal/node/runtime"
)

// PodAccess lets clients into running pods. The node implements it.
type PodAccess interface {
	// Attempt returns the attempt at a container that runs, or an error of the API.
	Attempt(pod *corev1.Pod, container string) (noderuntime.ID, error)
	// Exec and Attach are those of the node's runtime.
	Exec(ctx context.Context, id noderuntime.ID, command noderuntime.Command, streams noderuntime.Streams) (exitCode int32, err error)
	Attach(ctx context.Context, id noderuntime.ID, streams noderuntime.Streams) error
	// Dial connects to a TCP port of a pod's loopback address.
	Dial(ctx context.Context, pod *corev1.Pod, port int32) (net.Conn, error)
}

// idleTimeout ends a session in which nothing has happened for so long, as on a kubelet.
const idleTimeout = 4 * time.Hour

// podConnecter finds the container that a client wants to connect to.
type podConnecter struct {
	pods *genericregistry.Store
	// node is nil on a server that runs no pods.
	node func() (PodAccess, error)
}

func (podConnecter) New() runtime.Object { return &corev1.Pod{} }

// Destroy does nothing: the store belongs to the pods.
func (podConnecter) Destroy() {}

// ConnectMethods implements rest.Connecter: WebSockets are opened with GET, SPDY connections with POST.
func (podConnecter) ConnectMethods() []string { return []string{http.MethodGet, http.MethodPost} }

func (c podConnecter) pod(ctx context.Context, name string) (PodAccess, *corev1.Pod, error) {
	if c.node == nil {
		return nil, nil, apierrors.NewServiceUnavailable("this server has no node that runs pods")
	}
	node, err := c.node()
	if err != nil {
		return nil, nil, err
	}
	got, err := c.pods.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, nil, err
	}
	return node, got.(*corev1.Pod), nil
}

func (c podConnecter) attempt(ctx context.Context, name, container string) (node PodAccess, id noderuntime.ID, err error) {
	node, pod, err := c.pod(ctx, name)
	if err != nil {
		return nil, id, err
	}
	if container, err = chooseContainer(pod, container); err != nil {
		return nil, id, err
	}
	id, err = node.Attempt(pod, container)
	return node, id, err
}

// execREST serves pods/exec.
type execREST struct{ podConnecter }

// NewConnectOptions implements rest.Connecter.
func (execREST) NewConnectOptions() (runtime.Object, bool, string) {
	return &corev1.PodExecOptions{}, false, ""
}

// Connect implements rest.Connecter.
func (r execREST) Connect(ctx context.Context, name string, obj runtime.Object, _ rest.Responder) (http.Handler, error) {
	options := obj.(*corev1.PodExecOptions)
	if len(options.Command) == 0 {
		return nil, apierrors.NewBadRequest("command: it is missing, and there is no default")
	}
	node, id, err := r.attempt(ctx, name, options.Container)
	if err != nil {
		return nil, err
	}
	command := noderuntime.Command{Args: options.Command, TTY: options.TTY}
	run := func(ctx context.Context, streams noderuntime.Streams) (int32, error) {
		return node.Exec(ctx, id, command, streams)
	}
	return newTerminalHandler(options.Stdin, options.Stdout, options.Stderr, options.TTY, run)
}

// attachREST serves pods/attach.
type attachREST struct{ podConnecter }

// NewConnectOptions implements rest.Connecter.
func (attachREST) NewConnectOptions() (runtime.Object, bool, string) {
	return &corev1.PodAttachOptions{}, false, ""
}

// Connect implements rest.Connecter.
func (r attachREST) Connect(ctx context.Context, name string, obj runtime.Object, _ rest.Responder) (http.Handler, error) {
	options := obj.(*corev1.PodAttachOptions)
	node, id, err := r.attempt(ctx, name, options.Container)
	if err != nil {
		return nil, err
	}
	run := func(ctx context.Context, streams noderuntime.Streams) (int32, error) {
		return 0, node.Attach(ctx, id, streams)
	}
	return newTerminalHandler(options.Stdin, options.Stdout, options.Stderr, options.TTY, run)
}

func newTerminalHandler(stdin, stdout, stderr, tty bool, run func(context.Context, noderuntime.Streams) (int32, error)) (http.Handler, error) {
	// What is printed to a terminal has a single stream.
	streams := remotecommand.Options{Stdin: stdin, Stdout: stdout, Stderr: stderr && !tty, TTY: tty}
	if !streams.Stdin && !streams.Stdout && !streams.Stderr {
		return nil, apierrors.NewBadRequest("at least one of stdin, stdout and stderr must be true")
	}
	return terminalHandler{options: streams, run: run}, nil
}

// terminalHandler connects a client with a process.
type terminalHandler struct {
	options remotecommand.Options
	// run returns the exit code of the process when it has ended.
	run func(context.Context, noderuntime.Streams) (int32, error)
}

// ServeHTTP speaks the protocol that the client asks for.
func (h terminalHandler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w, req, end := watchClient(w, req)
	defer end()
	if isV5(req) {
		h.serveV5(w, req)
		return
	}
	remotecommand.ServeExec(w, req, h, "", "", "", nil, &h.options, idleTimeout, remotecommand.DefaultStreamCreationTimeout,
		remotecommand.SupportedStreamingProtocols)
}

// ExecInContainer implements remotecommand.Executor.
//
//nolint:revive // the library's interface
func (h terminalHandler) ExecInContainer(ctx context.Context, _, _, _ string, _ []string, in io.Reader, out, errs io.WriteCloser,
	_ bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var streams noderuntime.Streams
	if resize != nil {
		sizes := make(chan noderuntime.Size)
		go passSizes(ctx, resize, sizes)
		streams.Sizes = sizes
	}
	if h.options.Stdin {
		streams.Stdin = in
	}
	// A nil io.WriteCloser would be an io.Writer that is not nil.
	if out != nil {
		streams.Stdout = out
	}
	if errs != nil {
		streams.Stderr = errs
	}
	code, err := h.run(ctx, streams)
	if isClientGone(ctx) {
		return nil // The library would log an error.
	}
	if err == nil && code != 0 {
		return exec.CodeExitError{Err: fmt.Errorf("exit status %d", code), Code: int(code)}
	}
	return err
}

func passSizes(ctx context.Context, from <-chan remotecommand.TerminalSize, to chan<- noderuntime.Size) {
	defer close(to)
	for size := range from {
		select {
		case to <- noderuntime.Size{Columns: size.Width, Rows: size.Height}:
		case <-ctx.Done():
			return
		}
	}
}
