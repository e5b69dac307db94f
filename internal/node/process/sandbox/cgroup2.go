package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// unified is our part of the version 2 tree. Its leaves hold a container each.
type unified struct {
	dir         string
	controllers []string
	// maxPIDs is what a leaf may hold; 0 or less is without limit.
	maxPIDs int64
}

// openUnified makes our part of the tree. In a scope of its own this process is alone in its cgroup, so that it may
// step aside: controllers cannot be handed down by a cgroup that holds processes itself.
func openUnified(all []hierarchy, config Config) (*unified, error) {
	at := slices.IndexFunc(all, func(h hierarchy) bool { return h.v2 })
	if at < 0 {
		return nil, errors.New("no cgroup of version 2 is mounted")
	}
	home := all[at].home
	if config.OwnScope {
		if err := stepAside(home); err != nil {
			return nil, err
		}
	}
	u := &unified{dir: filepath.Join(home, config.Name), maxPIDs: config.MaxPIDs}
	if err := os.Mkdir(u.dir, 0o755); err != nil && !os.IsExist(err) {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(u.dir, "cgroup.kill")); err != nil {
		u.close()
		return nil, errors.New("the kernel has no cgroup.kill (Linux 5.14 or newer has)")
	}
	for _, controller := range []string{"memory", "cpu", "pids"} {
		if setFile(home, "cgroup.subtree_control", "+"+controller) == nil &&
			setFile(u.dir, "cgroup.subtree_control", "+"+controller) == nil {
			u.controllers = append(u.controllers, controller)
		}
	}
	return u, nil
}

func stepAside(home string) error {
	aside := filepath.Join(home, "host")
	if err := os.Mkdir(aside, 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	return setFile(aside, "cgroup.procs", strconv.Itoa(os.Getpid()))
}

func (u *unified) holds(controller string) bool { return slices.Contains(u.controllers, controller) }

func (u *unified) close() { os.Remove(u.dir) }

// leaf is the cgroup of one container.
type leaf struct {
	path   string
	dir    *os.File
	events *os.File
	weight int64
	// killed: Linux 6.14 and later kill whatever is cloned into a cgroup that was killed once, so it is not used again.
	killed atomic.Bool
}

func (u *unified) newLeaf(name string) (*leaf, error) {
	path := filepath.Join(u.dir, name)
	if err := os.Mkdir(path, 0o755); err != nil && !os.IsExist(err) {
		return nil, err
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	events, err := os.Open(filepath.Join(path, "cgroup.events"))
	if err != nil {
		dir.Close()
		return nil, err
	}
	l := &leaf{path: path, dir: dir, events: events, weight: defaultWeight}
	if u.boundsPIDs() {
		if err := setFile(path, "pids.max", strconv.FormatInt(u.maxPIDs, 10)); err != nil {
			_ = l.remove()
			return nil, err
		}
	}
	return l, nil
}

// limit sets what the kernel shall hold the leaf to. Controllers that are not there were reported by Info.
func (l *leaf) limit(u *unified, want limits) error {
	var failed error
	set := func(name, value string) {
		if err := setFile(l.path, name, value); err != nil && failed == nil {
			failed = fmt.Errorf("set %s to %s: %w", name, value, err)
		}
	}
	if u.holds("memory") && want.memory > 0 {
		set("memory.max", strconv.FormatInt(want.memory, 10))
		// One process short of memory ends the container, and nothing but the container.
		set("memory.oom.group", "1")
		// Without this the limit would only push the container into swap. Kernels without swap lack the file.
		_ = setFile(l.path, "memory.swap.max", "0")
	}
	if u.holds("cpu") && want.cpu > 0 {
		set("cpu.max", fmt.Sprintf("%d %d", want.quota(), cpuPeriod))
	}
	if weight := want.weight(); u.holds("cpu") && weight != l.weight {
		set("cpu.weight", strconv.FormatInt(weight, 10))
		l.weight = weight
	}
	return failed
}

// populated is false of no leaf.
func (l *leaf) populated() bool {
	if l == nil {
		return false
	}
	var buf [64]byte
	n, err := l.events.ReadAt(buf[:], 0)
	if n == 0 && err != nil {
		return false
	}
	return bytes.Contains(buf[:n], []byte("populated 1"))
}

func (l *leaf) kill() error {
	l.killed.Store(true)
	return setFile(l.path, "cgroup.kill", "1")
}

// oomKills counts what the kernel killed for want of memory.
func (l *leaf) oomKills() int64 { return counter(l.path, "memory.events", "oom_kill") }

func (l *leaf) remove() error {
	l.dir.Close()
	l.events.Close()
	return os.Remove(l.path)
}

// counter reads one line of a file of "name value" lines; 0 if there is none.
func counter(dir, file, name string) int64 {
	data, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == name {
			n, _ := strconv.ParseInt(value, 10, 64)
			return n
		}
	}
	return 0
}

// sweepUnified ends all that a former host process left in its part of the tree.
func sweepUnified(dir string) {
	if setFile(dir, "cgroup.kill", "1") != nil {
		return
	}
	pause := killWait{limit: killTimeout}
	for counter(dir, "cgroup.events", "populated") > 0 && pause.next() {
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	os.Remove(dir)
}
