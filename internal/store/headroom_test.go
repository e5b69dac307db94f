package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.etcd.io/etcd/client/v3/kubernetes"
	"golang.org/x/sys/unix"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/stint-dev/stint/test/smalldisk"
)

// greedy takes all space of a disk, and each block that becomes free.
type greedy struct {
	t       *testing.T
	path    string
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func startGreedy(t *testing.T, disk string) *greedy {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	g := &greedy{t: t, path: filepath.Join(disk, "greedy"), cancel: cancel}
	t.Cleanup(g.stop)
	isFull := make(chan struct{})
	g.running.Go(func() {
		f, err := os.Create(g.path)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		once := sync.OnceFunc(func() { close(isFull) })
		for chunk := make([]byte, 1<<20); ctx.Err() == nil; {
			if _, err := f.Write(chunk); errors.Is(err, unix.ENOSPC) {
				once()
			}
		}
	})
	<-isFull
	return g
}

// stop leaves the disk full.
func (g *greedy) stop() {
	g.cancel()
	g.running.Wait()
}

// makeRoom frees what was taken.
func (g *greedy) makeRoom() {
	g.stop()
	if err := os.Remove(g.path); err != nil {
		g.t.Error(err)
	}
}

var objectValue = make([]byte, 1_000)

// updateUntilRefused updates object(0) until that is refused, but at most so many times, and returns how often it was updated. It does
// the maintenance of a server that writes slowly.
func updateUntilRefused(t *testing.T, s *Store, value []byte, most int) int {
	t.Helper()
	updates := make(chan int, 1)
	revision := revisionOf(t, s, object(0))
	go func() { updates <- updateAll(t, s, value, revision, most) }()
	select {
	case n := <-updates:
		return n
	case <-s.log.broken.Done(): // A store that has failed does not answer.
		t.Fatalf("the store has failed: %v", <-s.Failed())
		return 0
	}
}

func updateAll(t *testing.T, s *Store, value []byte, revision int64, most int) (updates int) {
	for ; updates < most; updates++ {
		r, err := s.client.Kubernetes.OptimisticPut(t.Context(), object(0), value, revision, kubernetes.PutOptions{})
		if isRefusal(err) {
			return updates
		}
		if err != nil || !r.Succeeded {
			t.Errorf("update %d: %v, %v", updates, r.Succeeded, err)
			return updates
		}
		revision = r.Revision
		if updates%20 == 0 {
			step(t, s)
		}
	}
	return updates
}

func step(t *testing.T, s *Store) {
	t.Helper()
	s.headroom.step()
	if err := s.maintenance.step(t.Context()); err != nil {
		t.Error(err)
	}
}

func openIn(t *testing.T, dir string, options ...Option) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.maintenance.stop()
	return s
}

func isRefused(s *Store, key string) bool {
	_, err := s.client.Kubernetes.OptimisticPut(context.Background(), key, objectValue, 0, kubernetes.PutOptions{})
	return isRefusal(err)
}

func TestAStoreGoesOnThoughOthersTakeAllSpace(t *testing.T) {
	smalldisk.Run(t, 600, func(disk string) {
		s := openIn(t, filepath.Join(disk, "data [of a pattern]"))
		put(t, s, object(0), objectValue, 0)
		put(t, s, object(1), objectValue, 0)
		others := startGreedy(t, disk)

		updateUntilRefused(t, s, objectValue, 500)
		if !isRefused(s, object(2)) {
			t.Error("an object was created")
		}
		r, err := s.client.Kubernetes.OptimisticDelete(t.Context(), object(1), revisionOf(t, s, object(1)), kubernetes.DeleteOptions{})
		if err != nil || !r.Succeeded {
			t.Errorf("a deletion: %v, %v", r.Succeeded, err)
		}
		if n := updateUntilRefused(t, s, objectValue, 20_000); n < snapshotEntries {
			t.Errorf("%d updates until they were refused, want so many that etcd would make a snapshot", n)
		}
		others.makeRoom()
		step(t, s)
		put(t, s, object(2), objectValue, 0)
	})
}

func TestAStoreIsOpenedOnAFullDisk(t *testing.T) {
	smalldisk.Run(t, 600, func(disk string) {
		dir := filepath.Join(disk, "data [of a pattern]")
		s := openIn(t, dir)
		put(t, s, object(0), objectValue, 0)
		others := startGreedy(t, disk)
		updateUntilRefused(t, s, objectValue, snapshotEntries)
		others.stop()
		for i := range 5 {
			s.Close()
			smalldisk.FillUp(t, filepath.Join(disk, fmt.Sprint("rest", i)))
			if s = openIn(t, dir, ReadOnly); revisionOf(t, s, object(0)) == 0 {
				t.Error("nothing is there")
			}
			s.Close()
			s = openIn(t, dir)
			updateUntilRefused(t, s, objectValue, 2_000)
		}
		if !isRefused(s, object(1)) {
			t.Error("an object was created")
		}
		others.makeRoom()
		step(t, s)
		put(t, s, object(1), objectValue, 0)
	})
}

// A store of an older version has no headroom. etcd allocates the rest of its log's last segment at each start.
func TestAStoreWithoutHeadroomIsReadOnAFullDisk(t *testing.T) {
	smalldisk.Run(t, 300, func(disk string) {
		dir := filepath.Join(disk, "data [of a pattern]")
		s := openIn(t, dir)
		put(t, s, object(0), objectValue, 0)
		s.Close()
		removeHeadroom(t, filepath.Join(dir, "etcd"))
		smalldisk.FillUp(t, filepath.Join(disk, "fill"))

		s = openIn(t, dir, ReadOnly)
		if revisionOf(t, s, object(0)) == 0 {
			t.Error("nothing is there")
		}
		s.Close()
		if _, err := os.Stat(s.scratch); s.scratch == "" || !os.IsNotExist(err) {
			t.Errorf("the copy %q after it was closed: %v", s.scratch, err)
		}
	})
}

func TestAStoreWhoseLogCannotBeExtendedWritesNothing(t *testing.T) {
	smalldisk.Run(t, 300, func(disk string) {
		dir := filepath.Join(disk, "data [of a pattern]")
		s := openIn(t, dir)
		put(t, s, object(0), objectValue, 0)
		removeHeadroom(t, filepath.Join(dir, "etcd"))
		smalldisk.FillUp(t, filepath.Join(disk, "fill"))
		s.headroom.step()

		if n := updateUntilRefused(t, s, objectValue, 5_000); n > 0 {
			t.Errorf("%d updates", n)
		}
		_, err := s.client.Kubernetes.OptimisticDelete(t.Context(), object(0), revisionOf(t, s, object(0)), kubernetes.DeleteOptions{})
		if apierrors.ReasonForError(err) != ReasonFull {
			t.Errorf("a deletion: %v", err)
		}
		if err := os.Remove(filepath.Join(disk, "fill")); err != nil {
			t.Fatal(err)
		}
		s.headroom.step()
		put(t, s, object(1), objectValue, 0)
	})
}

func TestAStoreWithOneSegmentAheadWritesUntilItWouldBeBegun(t *testing.T) {
	smalldisk.Run(t, 300, func(disk string) {
		dir := filepath.Join(disk, "data [of a pattern]")
		s := openIn(t, dir)
		value := make([]byte, 10_000)
		put(t, s, object(0), objectValue, 0)
		for s.headroom.spares.giveUp() {
		}
		if err := os.Remove(filepath.Join(dir, "etcd/member/wal/1.tmp")); err != nil {
			t.Fatal(err)
		}
		smalldisk.FillUp(t, filepath.Join(disk, "fill"))
		s.headroom.step()
		if n := updateUntilRefused(t, s, value, 3_000); n == 0 || n == 3_000 {
			t.Errorf("%d updates until they were refused", n)
		}
		if err := os.Remove(filepath.Join(disk, "fill")); err != nil {
			t.Fatal(err)
		}
		s.headroom.step()
		if n := updateUntilRefused(t, s, value, 3_000); n != 3_000 {
			t.Errorf("%d updates when there is room again", n)
		}
	})
}

func removeHeadroom(t *testing.T, etcdDir string) {
	t.Helper()
	wal := filepath.Join(etcdDir, "member", "wal")
	for _, path := range []string{filepath.Join(etcdDir, "spare"), filepath.Join(wal, "0.tmp"), filepath.Join(wal, "1.tmp")} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	segment, err := os.OpenFile(filepath.Join(wal, "0000000000000000-0000000000000000.wal"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer segment.Close()
	if err := unix.Fallocate(int(segment.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 1<<20, spareBytes); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatIsInUseIsNoSpareSegment(t *testing.T) {
	s := spares{filepath.Join(t.TempDir(), "spare")}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	if n, err := s.fill(4); n != 4 || err != nil {
		t.Fatalf("%d: %v", n, err)
	}
	files := s.list()
	if err := os.Link(files[0], filepath.Join(t.TempDir(), "used")); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(files[1], 0); err != nil { // It has no space.
		t.Fatal(err)
	}
	begun, err := os.OpenFile(files[2], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer begun.Close()
	if _, err := begun.WriteString("record"); err != nil {
		t.Fatal(err)
	}
	if n := len(s.list()); n != 3 {
		t.Errorf("%d of 4 files are listed, though one has another name", n)
	}
	s.dropUsed()
	if left := s.list(); len(left) != 1 || left[0] != files[3] {
		t.Errorf("%v are left, want %s", left, files[3])
	}
}

func TestACopyThatNoProcessHoldsIsRemoved(t *testing.T) {
	place := t.TempDir()
	left, held, other := filepath.Join(place, copyPrefix+"left"), filepath.Join(place, copyPrefix+"held"), filepath.Join(place, "other")
	for _, dir := range []string{left, held, other} {
		if err := os.MkdirAll(filepath.Join(dir, "member"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	holdCopy(held)
	removeLeftCopies(place)
	for dir, want := range map[string]bool{left: false, held: true, other: true} {
		if there, err := exists(dir); err != nil || there != want {
			t.Errorf("%s is there: %t, %v", dir, there, err)
		}
	}
}
