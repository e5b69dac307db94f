package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// legacyCgroups is one container's place in the version 1 trees.
type legacyCgroups struct {
	cgroups []cgroup1
	// memory and cpu are the directories where limits are set; empty is none.
	memory, cpu string
}

// cgroup1 is a container's cgroup in one of the trees.
type cgroup1 struct {
	*part
	dir string
}

// newCgroups makes the cgroups of a container. It returns nil if there are no limits to set. If the container is to see its
// cgroups, it gets one in each tree.
func (d *legacy) newCgroups(name string, want limits, seen bool) (*legacyCgroups, error) {
	l := &legacyCgroups{}
	if d.memory != nil && want.memory > 0 {
		l.memory = filepath.Join(d.memory.dir, name)
	}
	if d.cpu != nil && want.cpu > 0 {
		l.cpu = filepath.Join(d.cpu.dir, name)
	}
	if l.memory == "" && l.cpu == "" {
		return nil, nil
	}
	for _, p := range d.parts {
		if dir := filepath.Join(p.dir, name); seen || dir == l.memory || dir == l.cpu {
			l.cgroups = append(l.cgroups, cgroup1{part: p, dir: dir})
		}
	}
	if seen && d.cpu != nil {
		l.cpu = filepath.Join(d.cpu.dir, name)
	}
	if err := l.make(want); err != nil {
		l.remove()
		return nil, err
	}
	return l, nil
}

func (l *legacyCgroups) make(want limits) error {
	for _, c := range l.cgroups {
		if err := os.Mkdir(c.dir, 0o755); err != nil {
			return err
		}
	}
	if l.cpu == "" {
		return nil
	}
	if want.cpuRequest > 0 {
		_ = setFile(l.cpu, "cpu.shares", strconv.FormatInt(want.shares(), 10))
	}
	if want.cpu == 0 {
		return nil
	}
	_ = setFile(l.cpu, "cpu.cfs_period_us", strconv.Itoa(cpuPeriod))
	if err := setFile(l.cpu, "cpu.cfs_quota_us", strconv.FormatInt(want.quota(), 10)); err != nil {
		return fmt.Errorf("set a CPU limit of %dm: %w", want.cpu, err)
	}
	return nil
}

// limitMemory limits the memory of all processes in the cgroup.
func (l *legacyCgroups) limitMemory(want limits) error {
	if l.memory == "" {
		return nil
	}
	value := strconv.FormatInt(want.memory, 10)
	if err := setFile(l.memory, "memory.limit_in_bytes", value); err != nil {
		return fmt.Errorf("set a memory limit of %s bytes: %w", value, err)
	}
	// The limit of memory and swap together. Kernels without swap accounting lack the file.
	_ = setFile(l.memory, "memory.memsw.limit_in_bytes", value)
	return nil
}

// enter moves the calling thread into the cgroups, so that its next child starts in them.
func (l *legacyCgroups) enter() error {
	for _, c := range l.cgroups {
		if err := setFile(c.dir, tasksFile, strconv.Itoa(unix.Gettid())); err != nil {
			return err
		}
	}
	return nil
}

// leave moves the calling thread back.
func (l *legacyCgroups) leave() error {
	for _, c := range l.cgroups {
		if err := setFile(c.home, tasksFile, strconv.Itoa(unix.Gettid())); err != nil {
			return err
		}
	}
	return nil
}

// tasksFile moves the threads into a cgroup whose ids are written to it.
const tasksFile = "tasks"

func (l *legacyCgroups) oomKills() int64 {
	if l.memory == "" {
		return 0
	}
	return counter(l.memory, "memory.oom_control", "oom_kill")
}

func (l *legacyCgroups) remove() {
	pause := killWait{limit: killTimeout}
	for _, c := range l.cgroups {
		for errors.Is(os.Remove(c.dir), unix.EBUSY) && pause.next() {
		}
	}
}
