// Package apiservertest runs API servers, and controllers on them, for tests.
package apiservertest

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/store"
)

// deadline is for servers that do not get ready.
const deadline = time.Minute

// Server is an API server of a test. It ends with the test at the latest.
type Server struct {
	*apiserver.Server
	// Dir has its data.
	Dir string
	// Stop ends the server and then its store.
	Stop func()

	t testing.TB
}

// Start returns a server that is ready. It has a directory of its own and no listener, unless changes give it another.
func Start(t testing.TB, changes ...func(*apiserver.Config)) *Server {
	t.Helper()
	c := apiserver.Config{DataDir: t.TempDir()}
	for _, change := range changes {
		change(&c)
	}
	var err error
	if c.Store, err = store.Open(c.DataDir); err != nil {
		t.Fatal(err)
	}
	api, err := apiserver.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- api.Run(ctx) }()
	s := &Server{Server: api, Dir: c.DataDir, t: t}
	s.Stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("server: %v", err)
		}
		if err := c.Store.Close(); err != nil {
			t.Errorf("store: %v", err)
		}
	})
	select {
	case <-api.Ready():
	case err := <-ended:
		t.Fatalf("the server ended: %v", err)
	case <-time.After(deadline):
		t.Fatal("the server is not ready")
	}
	t.Cleanup(s.Stop)
	return s
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
