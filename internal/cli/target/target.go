// Package target finds the API server that a command talks to.
//
//	--kubeconfig or KUBECONFIG given?      → that cluster
//	a server answers on the data directory? → that one
//	else                                    → a server inside this process, for as long as the command takes
package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

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
	DataDir    string
	// Namespace is the flag's value.
	Namespace string
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
	// Namespace is the one to use where an object names none.
	Namespace string

	stop context.CancelFunc
	// stopped is closed when the server in this process has ended, and err tells how; nil for other servers.
	stopped chan struct{}
	err     error
}

// ErrNoServer says that the command cannot start a server of its own.
var ErrNoServer = errors.New("no Stint server is running")

// Connect finds the server. Close must be called.
func Connect(ctx context.Context, o Options, start Start) (*Target, error) {
	if paths := kubeconfigs(o); len(paths) > 0 && !isOwn(paths, o.DataDir) {
		return fromKubeconfig(o, paths)
	}
	if t, ok := local(ctx, o); ok {
		return t, nil
	}
	if start == nil {
		return nil, fmt.Errorf("%w on %s: start one with stint server, or run Jobs with stint run -f FILE",
			ErrNoServer, o.DataDir)
	}
	return startOrJoin(ctx, o, start)
}

// lockPatience is how long another command may hold the data directory: one that only looks is soon done, and one
// that runs Jobs soon answers.
const lockPatience = 10 * time.Second

// startOrJoin starts a server in this process, or uses the one that somebody else is just starting.
func startOrJoin(ctx context.Context, o Options, start Start) (*Target, error) {
	patience, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	for {
		t, err := embedded(ctx, o, start)
		var locked *store.LockedError
		if err == nil || !errors.As(err, &locked) {
			return t, err
		}
		select {
		case <-patience.Done():
			return nil, err
		case <-time.After(100 * time.Millisecond):
		}
		if t, ok := local(ctx, o); ok {
			return t, nil
		}
	}
}

// kubeconfigs lists the files that the user named.
func kubeconfigs(o Options) []string {
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

// isOwn tells whether the user named the very file that the server on this data directory writes.
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

func ownKubeconfig(dataDir string) string {
	return filepath.Join(dataDir, "kubeconfig")
}

func fromKubeconfig(o Options, paths []string) (*Target, error) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: paths, WarnIfAllMissing: true}
	if o.Kubeconfig != "" {
		rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: o.Kubeconfig}
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.Context}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", filepath.Join(paths...), err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", filepath.Join(paths...), err)
	}
	if o.Namespace != "" {
		namespace = o.Namespace
	}
	return &Target{Kind: Cluster, Config: config, Namespace: namespace}, nil
}

// answerTimeout is how long a server on the loopback interface may take to say that it is there.
const answerTimeout = 3 * time.Second

func local(ctx context.Context, o Options) (*Target, bool) {
	config, err := clientcmd.BuildConfigFromFlags("", ownKubeconfig(o.DataDir))
	if err != nil {
		return nil, false
	}
	if !answers(ctx, config) {
		return nil, false
	}
	return &Target{Kind: Local, Config: config, Namespace: orDefault(o.Namespace)}, true
}

func answers(ctx context.Context, config *rest.Config) bool {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// embedded starts a server that outlives ctx: what is to stop must be stopped through it.
func embedded(ctx context.Context, o Options, start Start) (*Target, error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	server, err := start(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	t := &Target{Kind: Embedded, Config: server.RESTConfig(), Namespace: orDefault(o.Namespace),
		stop: stop, stopped: make(chan struct{})}
	go func() {
		t.err = server.Wait()
		close(t.stopped)
	}()
	return t, nil
}

// Stopped is closed when a server in this process has ended, wanted or not. Close tells why.
func (t *Target) Stopped() <-chan struct{} { return t.stopped }

// Listens tells whether somebody takes connections where the server is, sane or not.
func (t *Target) Listens(ctx context.Context) bool {
	address, err := url.Parse(t.Config.Host)
	if err != nil {
		return false
	}
	dialer := net.Dialer{Timeout: answerTimeout}
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
