package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stint-dev/stint/test/smalldisk"
)

func TestASnapshotIsLeftOutWhileTheDiskIsFull(t *testing.T) {
	smalldisk.Run(t, 600, func(disk string) {
		dir := filepath.Join(disk, "data")
		s := openIn(t, dir)
		put(t, s, object(0), objectValue, 0)
		fill := filepath.Join(disk, "fill")
		smalldisk.FillUp(t, fill)

		if n := updateUntilRefused(t, s, objectValue, snapshotEntries+100); n != snapshotEntries+100 {
			t.Errorf("%d updates until they were refused", n)
		}
		if newest := s.maintenance.snapshots.newest(); newest > 0 {
			t.Errorf("a snapshot of entry %d", newest)
		}
		revision := revisionOf(t, s, object(0))
		s.Close()
		if s = openIn(t, dir); revisionOf(t, s, object(0)) != revision {
			t.Errorf("revision %d after a restart, want %d", revisionOf(t, s, object(0)), revision)
		}

		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
		updateUntilRefused(t, s, objectValue, 100)
		if s.maintenance.snapshots.newest() == 0 {
			t.Error("no snapshot with an empty disk")
		}
	})
}

func TestOldSegmentsOfTheLogAreRemoved(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	put(t, s, object(0), objectValue, 0)
	large := make([]byte, 10_000)
	updateUntilRefused(t, s, large, snapshotEntries-100)
	if n := len(segments(t, dir)); n < 6 {
		t.Errorf("%d segments before a snapshot, want all that were written", n)
	}
	updateUntilRefused(t, s, large, 200)
	if n := len(segments(t, dir)); n != keptSegments {
		t.Errorf("%d segments after a snapshot", n)
	}
	revision := revisionOf(t, s, object(0))
	s.Close()
	if s = openIn(t, dir); revisionOf(t, s, object(0)) != revision {
		t.Errorf("revision %d after a restart, want %d", revisionOf(t, s, object(0)), revision)
	}
}

// A crash between the file of a snapshot and its record in the log leaves a file that is of no use.
func TestASnapshotOfAnEarlierProcessRemovesNoSegments(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	put(t, s, object(0), objectValue, 0)
	updateUntilRefused(t, s, make([]byte, 10_000), snapshotEntries-100)
	before := segments(t, dir)
	s.Close()
	orphan := filepath.Join(dir, "etcd/member/snap/0000000000000002-0000000000001000.snap")
	if err := os.WriteFile(orphan, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}

	s = openIn(t, dir)
	step(t, s)
	if after := segments(t, dir); len(after) < len(before) {
		t.Errorf("segments %v, before the restart %v", after, before)
	}
}

func segments(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "etcd/member/wal/*.wal"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}
