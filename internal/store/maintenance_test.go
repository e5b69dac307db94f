package store

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// openStill opens a store whose maintenance is driven by the test.
func openStill(t *testing.T, options ...Option) *Store {
	t.Helper()
	s, err := Open(t.Context(), t.TempDir(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.maintenance.stop()
	if err := s.maintenance.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// stepUntil does steps of the maintenance until done reports true. etcd drops history in the background, so their number
// is not known.
func stepUntil(t *testing.T, s *Store, done func(usage) bool) {
	t.Helper()
	for !done(s.maintenance.usage()) {
		if err := s.maintenance.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func put(t *testing.T, s *Store, key string, value []byte, expected int64) int64 {
	t.Helper()
	r, err := s.client.Kubernetes.OptimisticPut(t.Context(), key, value, expected, kubernetes.PutOptions{})
	if err != nil || !r.Succeeded {
		t.Fatalf("write of %s: %v, %v", key, r.Succeeded, err)
	}
	return r.Revision
}

// update writes an object of 100 kB n times, and returns the last revision.
func update(t *testing.T, s *Store, key string, n int) (revision int64) {
	t.Helper()
	value := make([]byte, 100_000)
	for i := range value {
		value[i] = byte(rand.Int())
	}
	for range n {
		revision = put(t, s, key, value, revision)
	}
	return revision
}

func TestAMuchWrittenObjectTakesLittleSpace(t *testing.T) {
	s := openStill(t)
	update(t, s, "/registry/a", 500)
	s.maintenance.server.Backend().ForceCommit()
	if u := s.maintenance.usage(); u.file <= slackBytes {
		t.Fatalf("the file of %d bytes proves nothing", u.file)
	}
	stepUntil(t, s, func(u usage) bool {
		s.maintenance.server.Backend().ForceCommit() // as other writes do
		return u.file <= slackBytes && u.used < mb
	})
	got, err := s.Client().Get(t.Context(), "/registry/a")
	if err != nil || len(got.Kvs) != 1 {
		t.Errorf("after it: %v, %v", got, err)
	}
}

// A next page is a read of the revision of the first one.
func TestHistoryIsKeptForReaders(t *testing.T) {
	s := openStill(t)
	old := update(t, s, "/registry/a", 500)
	young := put(t, s, "/registry/a", []byte("young"), old)
	if err := s.maintenance.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, s, "/registry/a", []byte("younger"), young)
	for range minKeptSteps {
		if _, err := s.Client().Get(t.Context(), "/registry/a", clientv3.WithRev(young)); err != nil {
			t.Fatal(err)
		}
		if err := s.maintenance.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Client().Get(t.Context(), "/registry/a", clientv3.WithRev(old)); !errors.Is(err, rpctypes.ErrCompacted) {
		t.Errorf("old history: %v", err)
	}
	if got := s.maintenance.CompactRevision(); got != young {
		t.Errorf("the caches are told revision %d, want %d", got, young)
	}
}

func TestAReopenedStoreKnowsItsCompaction(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	revision := put(t, s, "/registry/a", []byte("v"), 0)
	if _, err := s.Client().Compact(t.Context(), revision); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.maintenance.stop()
	if got := again.maintenance.CompactRevision(); got != revision {
		t.Errorf("compacted to %d, want %d", got, revision)
	}
	for range 2 * keptSteps {
		if err := again.maintenance.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestADefragmentedStoreOpensWithAllThatItHeld(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Client().Put(t.Context(), "/k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := s.maintenance.defragment(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got, err := again.Client().Get(t.Context(), "/k"); err != nil || len(got.Kvs) != 1 || !bytes.Equal(got.Kvs[0].Value, []byte("v")) {
		t.Errorf("after defragmentation: %v, %v", got, err)
	}
}
