// Package target finds the API server that a command talks to.
//
//	--kubeconfig or KUBECONFIG given?      → that cluster
//	a server answers on the data directory? → that one
//	else                                    → a server inside this process, for as long as the command takes
package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/stint-dev/stint/internal/datadir"
	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/store"
)

// Kind is the kind of a server.
type Kind int

// The kinds of targets.
const (
	// Cluster is a server that a kubeconfig names.
	Cluster Kind = iota
	// Local is a running server on the data directory.
	Local
	// Embedded is a server in this process.
	Embedded
)

// Options are the user's flags.
type Options struct {
	// Kubeconfig is the flag's value; empty leaves the choice to KUBECONFIG.
	Kubeconfig string
	Context    string
	// Local ignores KUBECONFIG.
	Local   bool
	DataDir string
	// Flags are the given flags that choose the server, for Caller.
	Flags []string
	// Namespace is the flag's value.
	Namespace string
	// StartTimeout limits the wait for another process that uses the data directory: for a server to be ready, or for a command
	// to end. It is process.DefaultStartTimeout if zero.
	StartTimeout time.Duration
}

// Server is a server in this process.
type Server interface {
	RESTConfig() *rest.Config
	// Wait returns when the server has stopped, after the end of the context it was started with.
	Wait() error
}

// Start starts a server in this process that runs until ctx ends. Nil means that the command needs a running one.
type Start func(ctx context.Context) (Server, error)

// Target is an API server to talk to.
type Target struct {
	Kind   Kind
	Config *rest.Config
	// Server is whether a Local target is stint server, which another one will follow, and not a command that serves while it runs.
	Server bool
	// Context is the name of the context of a Cluster.
	Context string
	// Namespace is the default namespace of objects.
	Namespace string
	// Caller formats commands in messages.
	Caller Caller

	stop context.CancelFunc
	// stopped is closed when the server in this process has stopped, with err; nil for other servers.
	stopped chan struct{}
	err     error
}

// ErrNoServer means that no server is running, and that the command does not start one.
var ErrNoServer = errors.New("no Stint server is running")

// Connect finds or starts the server. The caller must call Close.
func Connect(ctx context.Context, o Options, start Start) (*Target, error) {
	paths := kubeconfigs(o)
	if len(paths) == 0 && o.Context != "" {
		return nil, fmt.Errorf("no kubeconfig is named that could have the context %q: name it with --kubeconfig or KUBECONFIG", o.Context)
	}
	if len(paths) > 0 && !isOwn(paths, o.DataDir) {
		return fromKubeconfig(o, paths)
	}
	return joinOrStart(ctx, o, start)
}

// joinOrStart uses the server that runs on the data directory, or starts one in this process. If another process holds the lock
// of the data directory, it waits: for a server to be ready, or for a command to end.
func joinOrStart(ctx context.Context, o Options, start Start) (*Target, error) {
	warnings, err := datadir.Check(o.DataDir)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(o.StartTimeout, process.DefaultStartTimeout)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for timeout := firstAnswerTimeout; ; {
		config, err := ask(limited, o.DataDir, timeout)
		if err == nil {
			warn(warnings)
			return &Target{Kind: Local, Config: config, Server: store.HasServer(o.DataDir), Namespace: orDefault(o.Namespace), Caller: o.Caller()}, nil
		}
		if isSlow(err) {
			timeout *= 2
		}
		t, held, err := startUnlessHeld(ctx, o, start, err)
		if !held {
			return t, err
		}
		select {
		case <-limited.Done():
			return nil, fmt.Errorf("%w (waited for %s: allow more with --start-timeout)", err, limit)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// warn logs the warnings about the data directory, as a server in this process would.
func warn(warnings []string) {
	for _, w := range warnings {
		slog.Warn(w)
	}
}

// startUnlessHeld starts a server in this process, and reports whether another process holds the lock of the data directory, or is
// a stint server that is about to. Only the locks say whether another server runs, never its response time. unanswered is the error
// of asking the other server.
func startUnlessHeld(ctx context.Context, o Options, start Start, unanswered error) (t *Target, held bool, err error) {
	coming := store.HasServer(o.DataDir)
	if start != nil && !coming {
		t, err = embedded(ctx, o, start)
		var locked *store.LockedError
		return t, errors.As(err, &locked), err
	}
	if coming || errors.Is(unanswered, errNotReady) || isSlow(unanswered) {
		return nil, true, fmt.Errorf("%w on %s that is ready: %w", ErrNoServer, o.DataDir, unanswered)
	}
	return nil, false, fmt.Errorf("%w on %s: start one with %s, or run Jobs with %s", ErrNoServer, o.DataDir,
		o.Caller().Command("", "server"), o.Caller().Command("", "run", "-f", "FILE"))
}

func isSlow(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

// kubeconfigs returns the kubeconfig files that the user named.
func kubeconfigs(o Options) []string {
	if o.Local {
		return nil
	}
	if o.Kubeconfig != "" {
		return []string{o.Kubeconfig}
	}
	var paths []string
	for _, p := range filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar)) {
		if p != "" {
			paths = append(paths, p)
		}
	}
	return paths
}

// isOwn reports whether the user named the kubeconfig of this data directory.
func isOwn(paths []string, dataDir string) bool {
	if len(paths) != 1 {
		return false
	}
	named, err := filepath.Abs(paths[0])
	if err != nil {
		return false
	}
	own, err := filepath.Abs(ownKubeconfig(dataDir))
	return err == nil && named == own
}

// firstAnswerTimeout is how long to wait for a response before the lock of the data directory is tried, as another program may
// listen on the port. A slow server is asked again, with twice the time.
const firstAnswerTimeout = 3 * time.Second

// errNotReady means that a server is starting or stopping.
var errNotReady = errors.New("it answers that it is not ready")

// ask returns the configuration for the server on the data directory if that is ready.
func ask(ctx context.Context, dataDir string, timeout time.Duration) (*rest.Config, error) {
	config, err := ownConfig(dataDir)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w (%s)", errNotReady, response.Status)
	}
	return config, nil
}

// embedded starts a server in this process. ctx limits only the start; Close stops the server.
func embedded(ctx context.Context, o Options, start Start) (*Target, error) {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	started := context.AfterFunc(ctx, stop)
	server, err := start(life)
	started()
	if err != nil {
		stop()
		return nil, err
	}
	t := &Target{Kind: Embedded, Config: server.RESTConfig(), Namespace: orDefault(o.Namespace), Caller: o.Caller(),
		stop: stop, stopped: make(chan struct{})}
	go func() {
		t.err = server.Wait()
		close(t.stopped)
	}()
	return t, nil
}

// Stopped is closed when a server in this process has stopped for any reason. Close returns its error.
func (t *Target) Stopped() <-chan struct{} { return t.stopped }

// Listens reports whether the server's address accepts connections. A timeout counts as listening.
func (t *Target) Listens(ctx context.Context) bool {
	address, err := url.Parse(t.Config.Host)
	if err != nil {
		return false
	}
	dialer := net.Dialer{Timeout: firstAnswerTimeout}
	connection, err := dialer.DialContext(ctx, "tcp", address.Host)
	if err != nil {
		return !utilnet.IsConnectionRefused(err)
	}
	return connection.Close() == nil
}

// Close stops the server in this process, if there is one, and waits for its end.
func (t *Target) Close() error {
	if t.stopped == nil {
		return nil
	}
	t.stop()
	<-t.stopped
	if errors.Is(t.err, context.Canceled) {
		return nil
	}
	return t.err
}

func orDefault(namespace string) string {
	if namespace == "" {
		return "default"
	}
	return namespace
}

// Place describes where the server is.
func (t *Target) Place() string {
	switch t.Kind {
	case Cluster:
		return "on context " + t.Context + ", " + t.Config.Host
	case Local:
		return "on this machine, by the server at " + t.Config.Host
	default:
		return "on this machine"
	}
}
