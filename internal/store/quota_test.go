package store

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"go.etcd.io/etcd/client/v3/kubernetes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// fill creates objects until the store refuses one, and returns how many it has and the error.
func fill(t *testing.T, s *Store) (n int, refusal error) {
	t.Helper()
	for value := make([]byte, 100_000); ; n++ {
		r, err := s.client.Kubernetes.OptimisticPut(t.Context(), object(n), value, 0, kubernetes.PutOptions{})
		if err != nil {
			return n, err
		}
		if !r.Succeeded {
			t.Fatalf("%s was there", object(n))
		}
		s.maintenance.server.Backend().ForceCommit()
	}
}

func object(n int) string { return fmt.Sprintf("/registry/x/%d", n) }

func revisionOf(t *testing.T, s *Store, key string) int64 {
	t.Helper()
	got, err := s.client.Kubernetes.Get(t.Context(), key, kubernetes.GetOptions{})
	if err != nil || got.KV == nil {
		t.Fatalf("%s: %v", key, err)
	}
	return got.KV.ModRevision
}

func TestAFullStoreSaysWhatHelps(t *testing.T) {
	s := openStill(t, Quota(8*mb))
	_, err := fill(t, s)
	if got := apierrors.ReasonForError(err); got != ReasonFull {
		t.Fatalf("reason %q: %v", got, err)
	}
	status := err.(apierrors.APIStatus).Status()
	if status.Code != http.StatusInsufficientStorage || !strings.Contains(status.Message, "7 of 8 MiB; delete objects") {
		t.Errorf("%d: %s", status.Code, status.Message)
	}
}

func TestAFullStoreUpdatesAndDeletesObjectsAndHasRoomAfterIt(t *testing.T) {
	s := openStill(t, Quota(8*mb))
	n, _ := fill(t, s)
	// Before an object with finalizers is deleted, it is updated.
	for i := range n {
		revision := put(t, s, object(i), []byte("small"), revisionOf(t, s, object(i)))
		r, err := s.client.Kubernetes.OptimisticDelete(t.Context(), object(i), revision, kubernetes.DeleteOptions{})
		if err != nil || !r.Succeeded {
			t.Fatalf("deletion of %s: %v, %v", object(i), r.Succeeded, err)
		}
	}
	stepUntil(t, s, func(u usage) bool { return !u.full })
	put(t, s, object(0), []byte("new"), 0)
}

func TestAFullStoreSaysThatAnObjectExists(t *testing.T) {
	s := openStill(t, Quota(8*mb))
	fill(t, s)
	r, err := s.client.Kubernetes.OptimisticPut(t.Context(), object(0), []byte("again"), 0, kubernetes.PutOptions{})
	if err != nil || r.Succeeded || r.KV == nil {
		t.Errorf("a second creation: %v, %v", r, err)
	}
}

func TestAFullStoreTakesEvents(t *testing.T) {
	s := openStill(t, Quota(8*mb))
	n, _ := fill(t, s)
	lease, err := s.Client().Grant(t.Context(), 3600)
	if err != nil {
		t.Fatal(err)
	}
	event := kubernetes.PutOptions{LeaseID: lease.ID}
	r, err := s.client.Kubernetes.OptimisticPut(t.Context(), object(n), []byte("event"), 0, event)
	if err != nil || !r.Succeeded {
		t.Errorf("event: %v, %v", r.Succeeded, err)
	}
}

func TestTheReserveIsDivided(t *testing.T) {
	q := &quota{bytes: 1600}
	if objects, events, updates := q.limit(true, false), q.limit(true, true), q.limit(false, true); objects != 1400 || events != 1500 || updates != 1600 {
		t.Errorf("objects are refused from %d on, events from %d, updates from %d", objects, events, updates)
	}
}

func TestTheReserveForUpdatesHasAnEnd(t *testing.T) {
	s := openStill(t, Quota(8*mb))
	fill(t, s)
	revision := revisionOf(t, s, object(0))
	for value := make([]byte, 100_000); ; {
		r, err := s.client.Kubernetes.OptimisticPut(t.Context(), object(0), value, revision, kubernetes.PutOptions{})
		if apierrors.ReasonForError(err) == ReasonFull {
			break
		}
		if err != nil || !r.Succeeded {
			t.Fatal(r, err)
		}
		revision = r.Revision
		s.maintenance.server.Backend().ForceCommit()
	}
	if used := s.maintenance.usage().used; used < 8*mb || used > 9*mb {
		t.Errorf("%d bytes are used, want 8 MiB", used)
	}
	// What has filled it is history, and goes by itself.
	stepUntil(t, s, func(u usage) bool { return u.used < 8*mb }) // the store is full, so every step commits
	put(t, s, object(0), []byte("small"), revision)
}

// A server is restarted with a larger quota.
func TestAFullStoreOpensAndALargerQuotaHelps(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, Quota(8*mb))
	if err != nil {
		t.Fatal(err)
	}
	n, _ := fill(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), dir, Quota(16*mb))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	put(t, again, object(n), []byte("new"), 0)
}

func TestAFullStoreIsReportedOnceAndItsEndToo(t *testing.T) {
	s := openStill(t, Quota(8*mb))
	logged := captureLog(t)
	n, _ := fill(t, s)
	for range 3 {
		if err := s.maintenance.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(logged.String(), "the store is full"); got != 1 {
		t.Errorf("reported %d times: %s", got, logged)
	}
	for i := range n {
		if _, err := s.client.Kubernetes.OptimisticDelete(t.Context(), object(i), revisionOf(t, s, object(i)), kubernetes.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	stepUntil(t, s, func(u usage) bool {
		s.maintenance.server.Backend().ForceCommit() // as other writes do
		return u.used < 4*mb
	})
	if err := s.maintenance.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(logged.String(), "room again"); got != 1 {
		t.Errorf("the end was reported %d times: %s", got, logged)
	}
}

func captureLog(t *testing.T) *bytes.Buffer {
	t.Helper()
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &log
}
