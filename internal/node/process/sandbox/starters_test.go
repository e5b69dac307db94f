package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// groupStarters are starters on the machine's tree with the pids controller of version 1, without the rest of a Sandbox.
func groupStarters(t *testing.T) *starters {
	t.Helper()
	all, err := hierarchies()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(h hierarchy) bool { return slices.Contains(h.controllers, "pids") })
	name := fmt.Sprintf("stint-starters-test-%d", os.Getpid())
	if at < 0 || !canMake(all[at].home, name, "pids.max") {
		t.Skip("no cgroup with the pids controller of version 1 can be made here")
	}
	b := &Sandbox{config: Config{KeepSessionKeyring: true}, views: &views{}}
	b.legacy = &legacy{pids: openLegacyPIDs(all[at].home, name, 100)}
	s := newStarters(b, false)
	t.Cleanup(func() {
		s.close()
		if err := os.Remove(b.legacy.pids.dir); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Both threads are in the cgroup: the one that could not leave a container's namespaces, and the one that takes its place.
func TestAThreadThatIsReplacedTakesNothingOfTheLimitOfItsContainer(t *testing.T) {
	s := groupStarters(t)
	g, err := s.run(func(th *thread) error {
		th.addUndo(func() error { return unix.EPERM })
		return th.group.limit(1)
	})
	if err != nil {
		t.Fatal(err)
	}
	// The next job is one of the other thread.
	if err := g.jobs.run(func(*thread) error { return nil }); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(g.dir, "pids.max"))
	if got := strings.TrimSpace(string(text)); err != nil || got != "3" {
		t.Errorf("a container of one process, and two threads: at most %q, %v", got, err)
	}
	g.giveBack()
}

// A cgroup that a former host process could not remove is left as it is.
func TestACgroupThatWasLeftHoldsUpNoContainer(t *testing.T) {
	s := groupStarters(t)
	left := filepath.Join(s.sandbox.legacy.pids.dir, "1")
	if err := os.Mkdir(left, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(left); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
	g, err := s.run(func(*thread) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if g.dir == left {
		t.Error("it has become that of a container")
	}
	g.giveBack()
}
