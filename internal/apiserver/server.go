// Package apiserver serves the Kubernetes API on one machine, from the library k8s.io/apiserver.
//
//	clients ── TLS, loopback ──┐                              ┌─ RESTConfig: the handlers, without a socket
//	                           ▼                              ▼
//	          chain (authentication, limits, timeouts) ── handlers (decode, patch, apply, tables)
//	                                                          │
//	controllers, node ── Client: straight to ──► registry stores: defaults, strategy, validation
//	                                                          │
//	                                                 internal/store (cache, etcd)
//
// The subpackage registry describes each kind by a value of kinds.Resource. This package makes storage, strategies and
// routes from these values. It also has the parts that they cannot describe: deletion of namespaces, subresources of pods
// and Jobs, events in two groups, older API versions, and reviews of the requesting user.
package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/apiserver/inprocess"
	"github.com/stint-dev/stint/internal/apiserver/registry"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/persistentvolume"
	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/connlimit"
	"github.com/stint-dev/stint/internal/store"
)

// Config is the configuration of a Server.
type Config struct {
	// DataDir is the directory for the certificates (pki/) and the kubeconfig.
	DataDir string
	// Store is an open store. The caller closes it after Run has returned.
	Store *store.Store
	// Listener is the listener for HTTPS. If it is nil, only this process can use the server, and no kubeconfig is written.
	Listener net.Listener
	// Logs reads logs for pods/log and jobs/log. If it is nil, both are refused.
	Logs LogSource
	// Pods and Metrics return the node, or an error of the API as long as there is none: it is created later, as it needs this
	// server's client. If they are nil, there never is one.
	Pods    func() (PodAccess, error)
	Metrics func() (ResourceMetrics, error)
	// Jobs describes the Job controller, for explanations of Jobs.
	Jobs JobOptions
	// MemoryExceeded returns why there is no memory for new objects, or nil. If it is nil itself, nothing limits them.
	MemoryExceeded func() error
	// ServiceRange chooses the range from which Services get their addresses, when there are none yet. If it is nil, the range
	// is 10.96.0.0/16.
	ServiceRange func() netip.Prefix
	// Registry has the options for validation and defaults of pods and pod templates.
	Registry podregistry.Options
}

// Server is an API server. Run serves requests until its context ends.
type Server struct {
	config   Config
	scheme   *runtime.Scheme
	codecs   serializer.CodecFactory
	storages *storages

	generic         *genericapiserver.GenericAPIServer
	stores          []*genericregistry.Store
	events          *genericregistry.Store
	podTemplates    *genericregistry.Store
	serviceAccounts *genericregistry.Store // for the default account of each namespace
	jobs            *objectREST
	classes         *runtimeClasses
	storageClasses  *storageClasses
	services        *servicesREST
	slices          *genericregistry.Store // EndpointSlices
	admission       *namespaceAdmission
	memory          *memoryAdmission
	client          *inprocess.Client
	loopback        *rest.Config
	// connections and keys are nil on a server that does not listen.
	connections *connlimit.Listener
	keys        *pki
	// podsReach is the address by which pods reach this server. It is not valid if they do not.
	podsReach netip.Addr

	// stopping ends when the server stops.
	stopping context.Context
	stop     context.CancelFunc
	ready    chan struct{}
}

// New returns a server. Its Client works at once, HTTP clients only while Run runs. Run must always be called, because it
// closes the storage, and only then the store may be closed.
func New(c Config) (*Server, error) {
	classes := &runtimeClasses{options: c.Registry}
	c.Registry.Handler = classes.handler
	resources := registry.All(c.Registry)
	scheme, err := newScheme(resources)
	if err != nil {
		return nil, fmt.Errorf("register the API types: %w", err)
	}
	s := &Server{config: c, scheme: scheme, codecs: serializer.NewCodecFactory(scheme), classes: classes, storageClasses: &storageClasses{},
		ready: make(chan struct{})}
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
	s.memory = &memoryAdmission{exceeded: s.config.MemoryExceeded, forget: s.storages.forget, isUncached: func(r schema.GroupResource) bool { return s.storages.kinds[r].Uncached }}
	config.AdmissionControl = admission.NewChainHandler(s.memory, s.admission)
	s.generic, err = config.Complete(nil).New("stint", genericapiserver.NewEmptyDelegate())
	if err != nil {
		return fmt.Errorf("set up the API server: %w", err)
	}
	forget := forgetOpenAPI(config.OpenAPIV3Config)
	if err := s.install(all); err != nil {
		return fmt.Errorf("install the API: %w", err)
	}
	forget()
	serveOpenAPI(s.generic, config)
	s.client = inprocess.New(kinds, s.admitCreation)
	return errors.Join(ensureNamespaces(s.stopping, s.admission.namespaces, s.scheme), s.keepClasses(), s.keepKubernetesService())
}

// keepClasses keeps the default RuntimeClasses and, where volumes can be made, the StorageClass for them.
func (s *Server) keepClasses() error {
	err := keepExisting(s.stopping, s.classes.store, registry.DefaultRuntimeClasses)
	if err != nil || s.config.Registry.Node == nil {
		return err
	}
	return keepExisting(s.stopping, s.storageClasses.store, persistentvolume.DefaultClasses)
}

// drainTimeout is how long requests may still take when the server stops. Watches and followed logs end at once. Slower
// requests are aborted, as by a kill: acknowledged writes are on the disk, and clients have to retry the others.
const drainTimeout = 5 * time.Second

// Run serves requests until ctx ends. When it returns, the server no longer uses the store.
func (s *Server) Run(ctx context.Context) error {
	defer s.storages.close()
	defer s.stop()
	if err := s.certify(); err != nil {
		return err
	}
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

// Ready is closed when the server serves all clients.
func (s *Server) Ready() <-chan struct{} { return s.ready }

// Client returns the client for controllers and the node in this process, which calls the registry directly.
func (s *Server) Client() client.Interface { return s.client }

// StartInformers starts the requested informers and waits until they have synced. They stop when ctx ends or the server
// stops.
func (s *Server) StartInformers(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(s.stopping, cancel)
	return s.client.StartInformers(ctx)
}

// RESTConfig returns the config for clients in this process that need the HTTP API. They call the handlers without a
// socket, as a user that may do everything.
func (s *Server) RESTConfig() *rest.Config { return rest.CopyConfig(s.loopback) }

func (s *Server) serveInMemory(w http.ResponseWriter, req *http.Request) {
	s.generic.Handler.ServeHTTP(w, req)
}

// KubeconfigPath returns the path of the kubeconfig, which is written if there is a Listener.
func (s *Server) KubeconfigPath() string { return filepath.Join(s.config.DataDir, "kubeconfig") }

func newStorages(st *store.Store, scheme *runtime.Scheme, codecs serializer.CodecFactory, resources []kinds.Resource) *storages {
	all := map[schema.GroupResource]kinds.Resource{}
	for _, r := range resources {
		all[schema.GroupResource{Group: r.Version.Group, Resource: r.Plural}] = r
	}
	return &storages{store: st, scheme: scheme, codecs: codecs, kinds: all, made: map[schema.GroupResource]*store.Storage{}}
}

// forget makes all watch caches drop histories that take much memory.
func (s *storages) forget() {
	for _, made := range s.made {
		made.Forget()
	}
}

func (s *storages) close() {
	for _, st := range s.made {
		st.Close()
	}
}

// poll calls done every millisecond until it returns true. The interval is short because it delays the start, which takes
// only tens of milliseconds.
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
