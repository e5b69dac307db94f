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

// unified is the Sandbox's part of the version 2 tree. Each of its leaves holds one container.
type unified struct {
	dir         string
	controllers []string
}

// openUnified makes the Sandbox's part of the tree. In a scope of its own, this process first moves to a child cgroup: a
// cgroup with processes cannot enable controllers for its children.
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
	u := &unified{dir: filepath.Join(home, config.Name)}
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
	if u.holds("pids") {
		if err := setFile(u.dir, "pids.max", maxPIDs(maxTogether(config.MaxPIDs, machinePIDs()))); err != nil {
			u.close()
			return nil, err
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
	pids   int64
	// killed is whether cgroup.kill was written: Linux 6.14 and later kill all processes that are cloned into such a
	// cgroup, so it is not used again.
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
	return &leaf{path: path, dir: dir, events: events, weight: defaultWeight}, nil
}

// limitMemory limits the memory of all processes in the leaf.
func (l *leaf) limitMemory(u *unified, want limits) error {
	if !u.holds("memory") || want.memory == 0 {
		return nil
	}
	// Otherwise the container would use swap beyond its limit. Kernels without swap lack the file.
	_ = setFile(l.path, "memory.swap.max", "0")
	// The OOM killer kills the whole container instead of one of its processes.
	return errors.Join(l.set("memory.oom.group", "1"), l.set("memory.max", strconv.FormatInt(want.memory, 10)))
}

// limitPIDs limits how many processes and threads may be in the leaf.
func (l *leaf) limitPIDs(u *unified, want limits) error {
	if !u.holds("pids") || l.pids == want.pids {
		return nil
	}
	if err := l.set("pids.max", maxPIDs(want.pids)); err != nil {
		return err
	}
	l.pids = want.pids
	return nil
}

// limitCPU limits the CPU time of the leaf, and gives it its share.
func (l *leaf) limitCPU(u *unified, want limits) (err error) {
	if !u.holds("cpu") {
		return nil
	}
	if want.cpu > 0 {
		err = l.set("cpu.max", fmt.Sprintf("%d %d", want.quota(), cpuPeriod))
	}
	if weight := want.weight(); weight != l.weight {
		err = errors.Join(err, l.set("cpu.weight", strconv.FormatInt(weight, 10)))
		l.weight = weight
	}
	return err
}

func (l *leaf) set(name, value string) error {
	if err := setFile(l.path, name, value); err != nil {
		return fmt.Errorf("set %s to %s: %w", name, value, err)
	}
	return nil
}

// populated reports whether there are processes in the leaf; false for nil.
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

// oomKills is how many processes the OOM killer has killed.
func (l *leaf) oomKills() int64 { return counter(l.path, "memory.events", "oom_kill") }

func (l *leaf) remove() error {
	l.dir.Close()
	l.events.Close()
	return os.Remove(l.path)
}

// counter returns the value of name in a file of "name value" lines; 0 if there is none.
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

// sweepUnified kills all processes that a former host process left in its part of the tree, and removes its cgroups.
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
