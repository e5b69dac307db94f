// Package apiservertest runs API servers, and controllers on them, for tests.
//
// To start a server takes a tenth of a second of processor time, far more with the race detector. So the tests of a package
// share one, each in a namespace of its own:
//
//	func TestMain(m *testing.M) { apiservertest.Main(m) }
//
//	func TestX(t *testing.T) {
//		s := apiservertest.Shared(t) // objects go to s.Namespace; s.Client() and s.Clientset() reach them
//
// The informers of s.Client() belong to the test and show its namespace only, besides what is in none, like nodes. So a
// controller that s.Control runs meets neither the objects nor the controllers of other tests, even of parallel ones. What
// is in no namespace needs a generated name: it outlives its test, which may be run again.
//
// A test that stops its server, restarts it on its data or counts what it does, has one to itself: Start.
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

// Server is an API server as a test has it.
type Server struct {
	*apiserver.Server
	// Store has its data, in Dir.
	Store *store.Store
	Dir   string
	// Namespace is there for the objects of the test.
	Namespace string
	// Stop ends the server and then its store. It is nil if the server is shared.
	Stop func()

	t testing.TB
	// own is the client of this test if the server is shared, and over ends its informers.
	own  *inprocess.Client
	over context.Context
}

// Start returns a server that is ready, and ends with the test at the latest. It has a directory of its own and no
// listener, unless changes give it another.
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

// In has the server keep its data in dir.
func In(dir string) func(*apiserver.Config) {
	return func(c *apiserver.Config) { c.DataDir = dir }
}

// Listening has the server be reached over the network too.
func Listening(t testing.TB) func(*apiserver.Config) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return func(c *apiserver.Config) { c.Listener = listener }
}

// Client goes straight to the registry, as controllers do.
func (s *Server) Client() client.Interface {
	if s.own != nil {
		return s.own
	}
	return s.Server.Client()
}

// StartInformers starts the informers that the client was asked for, and returns once they hold what is stored.
func (s *Server) StartInformers(ctx context.Context) error {
	if s.own == nil {
		return s.Server.StartInformers(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(s.over, cancel)
	return s.own.StartInformers(ctx)
}

// Clientset reaches the server as a user who may do everything.
func (s *Server) Clientset() *kubernetes.Clientset {
	s.t.Helper()
	c, err := kubernetes.NewForConfig(s.RESTConfig())
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// Control runs a controller, once its informers are started, until the test ends or stop is called.
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
