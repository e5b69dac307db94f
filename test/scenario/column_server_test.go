package scenario_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	controller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/server"
)

const serverBackoff = 2 * time.Second

func newServerColumn(t *testing.T) *column {
	c := startServer(t, controller.Options{PodFailureBackoff: serverBackoff})
	c.backoff = serverBackoff
	return c
}

func startServer(t *testing.T, job controller.Options) *column {
	s := &stintServer{dir: t.TempDir(), job: job}
	s.run(t, server.Options{})
	t.Cleanup(func() { s.end(t) })
	return newColumn(t, onServer, &rest.Config{Host: "http://stint", Transport: &s.gate}, s)
}

// stintServer is stint server in this process. Its controllers start and stop with the whole server. While they are
// stopped, another server has the same data and no controllers.
type stintServer struct {
	dir    string
	job    controller.Options
	gate   gate
	server *server.Server
	cancel context.CancelFunc
}

func (s *stintServer) start(t testing.TB) { s.replace(t, server.Options{}) }

func (s *stintServer) stop(t testing.TB) { s.replace(t, server.Options{ReadOnly: true}) }

func (*stintServer) interrupts() bool { return true }

func (s *stintServer) replace(t testing.TB, o server.Options) {
	s.gate.close()
	s.end(t)
	s.run(t, o)
}

func (s *stintServer) run(t testing.TB, o server.Options) {
	o.DataDir, o.Job, o.EventDrainTime = s.dir, s.job, eventDrainTime
	ctx, cancel := context.WithCancel(context.Background())
	running, err := server.Start(ctx, o)
	if err != nil {
		cancel()
		s.gate.open(noServer{err}) // The other scenarios need not wait.
		t.Fatal(err)
	}
	s.server, s.cancel = running, cancel
	transport, err := rest.TransportFor(running.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	s.gate.open(transport)
}

func (s *stintServer) end(t testing.TB) {
	s.cancel()
	if err := s.server.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("stopping the server: %v", err)
	}
}

// noServer answers in place of a server that has not started.
type noServer struct{ why error }

func (n noServer) RoundTrip(*http.Request) (*http.Response, error) { return nil, n.why }

// gate sends requests to the server that runs. While there is none they wait, so that a scenario does not notice when
// another one restarts the server.
type gate struct {
	mu sync.RWMutex
	to http.RoundTripper
	// shut is set while there is no server.
	shut bool
}

func (g *gate) RoundTrip(request *http.Request) (*http.Response, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.to.RoundTrip(request)
}

// close returns when the requests under way have ended, except watches. New ones wait.
func (g *gate) close() {
	g.mu.Lock()
	g.shut = true
}

func (g *gate) open(to http.RoundTripper) {
	if !g.shut {
		g.mu.Lock()
	}
	g.to, g.shut = to, false
	g.mu.Unlock()
}
