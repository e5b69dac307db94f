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

// Kind is what answers.
type Kind int

// The kinds of targets.
const (
	// Cluster is whatever a kubeconfig names.
	Cluster Kind = iota
	// Local is a running server on the data directory.
	Local
	// Embedded is a server in this process.
	Embedded
)

// Options say what the user asked for.
type Options struct {
	// Kubeconfig is the flag's value; empty leaves the choice to KUBECONFIG.
	Kubeconfig string
	Context    string
	// Local is this machine, whatever KUBECONFIG says.
	Local   bool
	DataDir string
	// Flags are those that choose the server, as they were given, for Caller.
	Flags []string
	// Namespace is the flag's value.
	Namespace string
	// StartTimeout bounds the waiting for who holds the data directory: a server to answer, a look to end. It is
	// process.DefaultStartTimeout if zero.
	StartTimeout time.Duration
}

// Server is a server in this process.
type Server interface {
	RESTConfig() *rest.Config
	// Wait returns when the server has stopped, after the end of the context it was started with.
	Wait() error
}

// Start starts a server in this process that runs until ctx ends. Nil means that the command needs one that runs.
type Start func(ctx context.Context) (Server, error)

// Target is an API server to talk to.
type Target struct {
	Kind   Kind
	Config *rest.Config
	// Context is the name of a cluster's.
	Context string
	// Namespace is the one to use where an object names none.
	Namespace string
	// Caller is for hints.
	Caller Caller

	stop context.CancelFunc
	// stopped is closed when the server in this process has ended, and err tells how; nil for other servers.
	stopped chan struct{}
	err     error
}

// ErrNoServer says that the command cannot start a server of its own.
var ErrNoServer = errors.New("no Stint server is running")

// Connect finds the server. Close must be called.
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

// joinOrStart uses the server that runs on the data directory, or starts one in this process. Who holds the data
// directory is waited for: a server soon answers, a command that only looks is soon done.
func joinOrStart(ctx context.Context, o Options, start Start) (*Target, error) {
	warnings, err := datadir.Check(o.DataDir)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(o.StartTimeout, process.DefaultStartTimeout)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for patience := firstAnswerTimeout; ; {
		config, err := ask(limited, o.DataDir, patience)
		if err == nil {
			warn(warnings)
			return &Target{Kind: Local, Config: config, Namespace: orDefault(o.Namespace), Caller: o.Caller()}, nil
		}
		if isSlow(err) {
			patience *= 2
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

// warn says what a server in this process would have said of the data directory.
func warn(warnings []string) {
	for _, w := range warnings {
		slog.Warn(w)
	}
}

// startUnlessHeld starts a server in this process. Whether another one runs is for the lock on the data directory to
// say, and never for how fast it answers. Unanswered is why the other one could not be used.
func startUnlessHeld(ctx context.Context, o Options, start Start, unanswered error) (t *Target, held bool, err error) {
	if start != nil {
		t, err = embedded(ctx, o, start)
		var locked *store.LockedError
		return t, errors.As(err, &locked), err
	}
	if errors.Is(unanswered, errNotReady) || isSlow(unanswered) {
		return nil, true, fmt.Errorf("%w on %s that is ready: %w", ErrNoServer, o.DataDir, unanswered)
	}
	return nil, false, fmt.Errorf("%w on %s: start one with %s, or run Jobs with %s", ErrNoServer, o.DataDir,
		o.Caller().Command("", "server"), o.Caller().Command("", "run", "-f", "FILE"))
}

func isSlow(err error) bool { return errors.Is(err, context.DeadlineExceeded) }

// kubeconfigs lists the files that the user named.
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

// isOwn reports whether the user named the very file that the server on this data directory writes.
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

// firstAnswerTimeout is how long a server may take to answer before the lock on the data directory is asked, too: what listens
// there may be another program. A server that is slower is asked again, with twice the time.
const firstAnswerTimeout = 3 * time.Second

// errNotReady: a server is starting, or stopping.
var errNotReady = errors.New("it answers that it is not ready")

// Answers reports whether a server on the data directory answers, and is no command that only looks at it.
func Answers(ctx context.Context, dataDir string) bool {
	_, err := ask(ctx, dataDir, firstAnswerTimeout)
	return err == nil
}

// ask returns the way to the server on the data directory if that is ready.
func ask(ctx context.Context, dataDir string, patience time.Duration) (*rest.Config, error) {
	config, err := ownConfig(dataDir)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
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

// embedded starts a server. With ctx only its start is given up; what has started is stopped through the Target.
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

// Stopped is closed when a server in this process has ended, wanted or not. Close tells why.
func (t *Target) Stopped() <-chan struct{} { return t.stopped }

// Listens reports whether anything takes connections where the server is, sane or not. What is slow to take them listens.
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

// Place says where the server is.
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
