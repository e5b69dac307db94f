package cluster_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/kube"
)

func TestClusterWithItsAPIServerAway(t *testing.T) {
	c := kube.ForTest(t, kube.Options{})
	n := newNode(t, c)
	start := func(t *testing.T) {
		t.Helper()
		if err := c.StartAPIServer(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("at the start it is waited for", func(t *testing.T) {
		c.StopAPIServer()
		s := controller(t, c, "", "--leader-elect=false")
		s.awaitLog(t, "Waiting for the API server")
		if status, _ := s.get("/healthz"); status != http.StatusOK {
			t.Errorf("/healthz: %d while it waits", status)
		}
		if status, body := s.get("/readyz"); status != http.StatusServiceUnavailable || body != "starting\n" {
			t.Errorf("/readyz: %d %q while it waits", status, body)
		}
		start(t)
		s.awaitReady(t)
		if times := strings.Count(s.log.String(), "Waiting for the API server"); times != 1 {
			t.Errorf("it said %d times that it waits", times)
		}
		n.create(t, newJob("waited", jobcontroller.ManagedBy))
		n.awaitEnd(t, "waited")
	})
	t.Run("without leader election it is waited for later too", func(t *testing.T) {
		s := controller(t, c, "", "--leader-elect=false")
		s.awaitReady(t)
		n.hold("outlives", 0)
		n.create(t, newJob("outlives", jobcontroller.ManagedBy, size(10, 5)))
		c.RestartAPIServer(t)
		n.letGo(t.Context(), "outlives")
		n.awaitEnd(t, "outlives")
		n.exact(t, "outlives")
	})
	t.Run("with leader election it ends when the lease cannot be renewed", func(t *testing.T) {
		s := controller(t, c, "", lease("away", "20s", "15s")...)
		s.awaitLog(t, "self=true")
		s.awaitReady(t)
		c.StopAPIServer()
		if status := s.exit(t); status != 1 {
			t.Errorf("exit status %d, want 1", status)
		}
		s.awaitLog(t, "stint: lost the lease "+leaseNamespace+"/away: ")
		start(t)
	})
	t.Run("a second signal ends it at once", func(t *testing.T) {
		s := controller(t, c, "", steadyLease("busy")...)
		s.awaitLog(t, "self=true")
		s.awaitReady(t)
		// The lease cannot be released while the API server does not answer.
		syscall.Kill(c.APIServer().PID(), syscall.SIGSTOP)
		defer syscall.Kill(c.APIServer().PID(), syscall.SIGCONT)
		s.signal(syscall.SIGINT)
		s.awaitLog(t, "Stopping: ")
		s.signal(syscall.SIGINT)
		if status := s.exit(t); status != -1 {
			t.Errorf("exit status %d, want an end by the signal", status)
		}
	})
}

func TestClusterWrongCredentialsEndIt(t *testing.T) {
	s := controller(t, kube.Shared(t), "nobody")
	if status := s.exit(t); status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
	s.awaitLog(t, "rejects these credentials")
}

func TestClusterWithoutRightsItIsNotReadyAndSaysWhy(t *testing.T) {
	c := kube.Shared(t)
	for missing, flags := range map[string][]string{
		`cannot get resource \"leases\"`: steadyLease(powerless),
		`cannot list resource \"pods\"`:  {"--leader-elect=false"},
	} {
		s := controller(t, c, powerless, flags...)
		s.awaitLog(t, missing)
		if status, _ := s.get("/readyz"); status != http.StatusServiceUnavailable {
			t.Errorf("/readyz is %d although it %s", status, missing)
		}
		s.signal(syscall.SIGTERM)
		if status := s.exit(t); status != 0 {
			t.Errorf("exit status %d, want 0", status)
		}
	}
}
