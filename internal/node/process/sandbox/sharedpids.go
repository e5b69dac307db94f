package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func (u *unified) limitsPIDs() bool { return u.maxPIDs > 0 && u.holds("pids") }

// processLimit says what bounds the number of processes.
func (b *Sandbox) processLimit() string {
	switch {
	case b.unified != nil && b.unified.limitsPIDs():
		return fmt.Sprintf("at most %d a container", b.unified.maxPIDs)
	case b.legacy.pids != nil:
		return fmt.Sprintf("at most %d in all containers together", b.legacy.pids.max)
	}
	return ""
}

// sharedPIDs is a version 1 cgroup for the processes of all containers. Moving a thread takes milliseconds, so the
// forking threads stay in it, and their children start in it.
type sharedPIDs struct {
	home, dir string
	max       int64
}

// openSharedPIDs returns nil where the limit cannot be set.
func openSharedPIDs(home, name string, maxPIDs int64) *sharedPIDs {
	s := &sharedPIDs{home: home, dir: filepath.Join(home, name), max: sharedMax(maxPIDs, machinePIDs())}
	if setFile(s.dir, "pids.max", strconv.FormatInt(s.max, 10)) != nil {
		os.Remove(s.dir)
		return nil
	}
	return s
}

// sharedMax is half of what the machine can have, but at least the limit of one container.
func sharedMax(container, machine int64) int64 { return max(container, machine/2) }

// machinePIDs is how many processes and threads the machine can have.
func machinePIDs() int64 {
	least := int64(1 << 15)
	for i, file := range []string{"pid_max", "threads-max"} {
		data, err := os.ReadFile(filepath.Join("/proc/sys/kernel", file))
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
		if err == nil && (i == 0 || n < least) {
			least = n
		}
	}
	return least
}

// enter moves the calling thread.
func (s *sharedPIDs) enter() error {
	if s == nil {
		return nil
	}
	return setFile(s.dir, "tasks", strconv.Itoa(unix.Gettid()))
}

// empty moves all threads out, so that the cgroup can be removed.
func (s *sharedPIDs) empty() {
	if s == nil {
		return
	}
	tasks, _ := os.ReadFile(filepath.Join(s.dir, "tasks"))
	for _, tid := range strings.Fields(string(tasks)) {
		_ = setFile(s.home, "tasks", tid)
	}
}
