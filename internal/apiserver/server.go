// Package apiserver serves the Kubernetes API on one machine, from the library k8s.io/apiserver.
//
//	clients ── TLS, loopback ──┐                              ┌─ RESTConfig: the handlers, without a socket
//	                           ▼                              ▼
//	          chain (who is it, limits, time-outs) ── handlers (decode, patch, apply, tables)
//	                                                          │
//	controllers, node ── Client: straight to ──► registry stores: defaults, strategy, validation
//	                                                          │
//	                                                 internal/store (cache, etcd)
//
// What a kind is like is said in the subpackage registry, one value of registry.Resource for each; this package makes
// storage, strategies and routes from those values and holds what cannot be said there: namespaces, the subresources
// of pods, events in two groups, and the reviews of whoever asks.
package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/apiserver/inprocess"
	"github.com/stint-dev/stint/internal/apiserver/registry"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/connlimit"
	"github.com/stint-dev/stint/internal/store"
)

// Config says what to serve and where.
type Config struct {
	// DataDir is where the certificates (pki/) and the kubeconfig are kept.
	DataDir string
	// Store is open, and is closed by whoever opened it once Run has returned.
	Store *store.Store
	// Listener is where HTTPS is served. Nil serves this process only, and writes no kubeconfig.
	Listener net.Listener
	// Logs answers pods/log. Nil refuses it.
	Logs LogSource
	// Jobs is what explanations of Jobs depend on.
	Jobs JobOptions
	// Registry decides what the rules of the kinds depend on.
	Registry podregistry.Options
}

// Server is an API server. New makes it, Run serves and stops it.
type Server struct {
	config   Config
	scheme   *runtime.Scheme
	codecs   serializer.CodecFactory
	storages *storages

	generic      *genericapiserver.GenericAPIServer
	stores       []*genericregistry.Store
	events       *genericregistry.Store
	podTemplates *genericregistry.Store
	// serviceAccounts is where each namespace has its default one.
	serviceAccounts *genericregistry.Store
	jobs            *objectREST
	classes         *runtimeClasses
	admission       *namespaceAdmission
	client          *inprocess.Client
	loopback        *rest.Config
	// connections is nil on a server that does not listen.
	connections *connlimit.Listener

	// stopping is over when the server is to stop.
	stopping context.Context
	stop     context.CancelFunc
	ready    chan struct{}
}

// New makes a server that answers its Client at once, and others when it runs. Run has to be called in any case: it
// lets go of the store.
func New(c Config) (*Server, error) {
	classes := &runtimeClasses{options: c.Registry}
	c.Registry.Handler = classes.handler
	resources := registry.All(c.Registry)
	scheme, err := newScheme(resources)
	if err != nil {
		return nil, fmt.Errorf("register the API types: %w", err)
	}
	s := &Server{config: c, scheme: scheme, codecs: serializer.NewCodecFactory(scheme), classes: classes, ready: make(chan struct{})}
	s.stopping, s.stop = context.WithCancel(context.Background())
	classes.ctx = s.stopping
	s.storages = newStorages(c.Store, scheme, s.codecs, resources)
	if err := s.setUp(resources); err != nil {
		s.stop()
		s.storages.close()
		return nil, err
	}
	return s, nil
}

func (s *Server) setUp(resources []kinds.Resource) error {
	config, err := s.genericConfig(resources)
	if err != nil {
		return err
	}
	all, kinds, err := s.build(resources, s.config.Logs)
	if err != nil {
		return err
	}
	config.AdmissionControl = s.admission
	s.generic, err = config.Complete(nil).New("stint", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return fmt.Errorf("set up the API server: %w", err)
	}
	if err := s.install(all); err != nil {
		return fmt.Errorf("install the API: %w", err)
	}
	s.client = inprocess.New(kinds, s.admission.AdmitCreation)
	return errors.Join(ensureNamespaces(s.stopping, s.admission.namespaces, s.scheme), s.classes.ensure())
}

// drainTimeout is how long requests may go on when the server stops; watches and followed logs are ended at once. A
// request that is slower is cut off, as it is by kill -9: what was acknowledged is on the disk, and clients ask again.
const drainTimeout = 5 * time.Second

// Run serves until ctx ends. When it returns, nothing of the server uses the store any more.
func (s *Server) Run(ctx context.Context) error {
	defer s.storages.close()
	defer s.stop()
	serving, stopServing := context.WithCancel(context.Background())
	defer stopServing()
	drained, _, err := s.generic.PrepareRun().NonBlockingRunWithContext(serving, drainTimeout)
	if err != nil {
		return fmt.Errorf("serve the API: %w", err)
	}
	err = s.waitForStorage(ctx)
	if err == nil {
		err = s.ensureDefaultServiceAccounts(ctx)
	}
	if err == nil {
		close(s.ready)
		<-ctx.Done()
	} else if !errors.Is(err, context.Canceled) {
		return err
	}
	s.stop()
	stopServing()
	s.client.Wait()
	if drained != nil {
		<-drained
	}
	s.generic.Destroy()
	return nil
}

// Ready is closed once the server answers everybody.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Client goes straight to the registry: what controllers and the node of this process use.
func (s *Server) Client() client.Interface { return s.client }

// StartInformers starts the informers that were asked for, and returns once they hold what is stored.
// They stop when ctx ends or the server stops.
func (s *Server) StartInformers(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(s.stopping, cancel)
	return s.client.StartInformers(ctx)
}

// RESTConfig is for clients of this process that want all of the API: it reaches the handlers without a socket,
// as a user who may do everything.
func (s *Server) RESTConfig() *rest.Config { return rest.CopyConfig(s.loopback) }

func (s *Server) serveInMemory(w http.ResponseWriter, req *http.Request) {
	s.generic.Handler.ServeHTTP(w, req)
}

// KubeconfigPath is where the kubeconfig is written when there is a Listener.
func (s *Server) KubeconfigPath() string { return filepath.Join(s.config.DataDir, "kubeconfig") }

func newStorages(st *store.Store, scheme *runtime.Scheme, codecs serializer.CodecFactory, resources []kinds.Resource) *storages {
	versions := map[schema.GroupResource]schema.GroupVersion{}
	for _, r := range resources {
		versions[schema.GroupResource{Group: r.Version.Group, Resource: r.Plural}] = r.Version
	}
	return &storages{store: st, scheme: scheme, codecs: codecs, versions: versions, made: map[schema.GroupResource]*store.Storage{}}
}

func (s *storages) close() {
	for _, st := range s.made {
		st.Close()
	}
}

// poll looks every millisecond: what it waits for takes tens of them, and counts against the time to start.
func poll(ctx context.Context, done func() bool) error {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}
