// Package apiservertest runs API servers, and controllers on them, for tests.
//
// Starting a server takes a tenth of a second of processor time, and far more with the race detector. So the tests of a
// package share one server, and each test has its own namespace:
//
//	func TestMain(m *testing.M) { apiservertest.Main(m) }
//
//	func TestX(t *testing.T) {
//		s := apiservertest.Shared(t) // create objects in s.Namespace, with s.Client() or s.Clientset()
//
// The informers of s.Client() belong to the test. They show only its namespace and cluster-scoped objects such as
// nodes, so a controller run by s.Control does not see the objects of other tests, even of parallel ones.
// Cluster-scoped objects need generated names, because they outlive their test, which may run again.
//
// A test that stops its server, restarts it with its data or counts what it does needs its own server: see Start.
package apiservertest

import (
	"context"
	"net"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/inprocess"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/store"
)

// Server is an API server for a test.
type Server struct {
	*apiserver.Server
	// Store is the server's store, with its files in Dir.
	Store *store.Store
	Dir   string
	// Namespace is the namespace for the objects of the test.
	Namespace string
	// Stop stops the server and then closes its store. It is nil if the server is shared.
	Stop func()

	t testing.TB
	// own is the client of this test if the server is shared. Its informers stop when over ends.
	own *inprocess.Client
	ctx context.Context
}

// Start starts a server for this test and waits until it is ready. The server stops with the test at the latest. It has
// its own directory and no listener, unless changes set them.
func Start(t testing.TB, changes ...func(*apiserver.Config)) *Server {
	t.Helper()
	c := apiserver.Config{DataDir: t.TempDir()}
	for _, change := range changes {
		change(&c)
	}
	r, err := run(c)
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	r.waitUntilReady(t)
	return &Server{Server: r.Server, Store: r.store, Dir: c.DataDir, Namespace: metav1.NamespaceDefault, Stop: stop, t: t}
}

// In makes dir the server's data directory.
func In(dir string) func(*apiserver.Config) {
	return func(c *apiserver.Config) { c.DataDir = dir }
}

// Listening makes the server listen on a local port.
func Listening(t testing.TB) func(*apiserver.Config) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return func(c *apiserver.Config) { c.Listener = listener }
}

// Client returns the client that controllers use, which calls the registry directly.
func (s *Server) Client() client.Interface {
	if s.own != nil {
		return s.own
	}
	return s.Server.Client()
}

// StartInformers starts the requested informers of the client and waits until they have synced.
func (s *Server) StartInformers(ctx context.Context) error {
	if s.own == nil {
		return s.Server.StartInformers(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(s.ctx, cancel)
	return s.own.StartInformers(ctx)
}

// Clientset returns a client for a user that may do everything.
func (s *Server) Clientset() *kubernetes.Clientset {
	s.t.Helper()
	c, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// Control starts the informers and runs a controller until the test ends or stop is called.
func (s *Server) Control(c interface{ Run(context.Context) error }) (stop func()) {
	s.t.Helper()
	if err := s.StartInformers(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			s.t.Errorf("%T: %v", c, err)
		}
	})
	s.t.Cleanup(stop)
	return stop
}
