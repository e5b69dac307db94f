package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// divided is our part of the version 1 trees, where controllers are not in version 2 yet. Only containers with
// limits get cgroups there: moving a thread into one takes milliseconds.
type divided struct {
	name   string
	memory string
	cpu    string
	pids   *sharedPIDs
}

// openDivided tries which of the controllers can be used.
func openDivided(all []hierarchy, config Config) *divided {
	name := config.Name
	d := &divided{name: name}
	for _, h := range all {
		if slices.Contains(h.controllers, "memory") && canMake(h.home, name, "memory.limit_in_bytes") {
			d.memory = h.home
		}
		if slices.Contains(h.controllers, "cpu") && canMake(h.home, name, "cpu.cfs_quota_us") {
			d.cpu = h.home
		}
		if slices.Contains(h.controllers, "pids") && config.MaxPIDs > 0 && canMake(h.home, name, "pids.max") {
			d.pids = openSharedPIDs(h.home, name, config.MaxPIDs)
		}
	}
	return d
}

// canMake makes our directory under home and tells whether its controls can be written.
func canMake(home, name, control string) bool {
	dir := filepath.Join(home, name)
	if err := os.Mkdir(dir, 0o755); err != nil && !os.IsExist(err) {
		return false
	}
	if unix.Access(filepath.Join(dir, control), unix.W_OK) == nil {
		return true
	}
	os.Remove(dir)
	return false
}

func (d *divided) dirs() []string {
	var dirs []string
	for _, home := range []string{d.memory, d.cpu} {
		if home != "" {
			dirs = append(dirs, filepath.Join(home, d.name))
		}
	}
	if d.pids != nil {
		dirs = append(dirs, d.pids.dir)
	}
	return slices.Compact(dirs)
}

func (d *divided) close() {
	d.pids.empty()
	for _, dir := range d.dirs() {
		os.Remove(dir)
	}
}

// limited is one container's place in the version 1 trees.
type limited struct {
	memory, cpu string
	// homes are where the forking thread returns to.
	homes []string
}

// newLimited returns nil when there is nothing to hold the container to.
func (d *divided) newLimited(name string, want limits) (*limited, error) {
	l := &limited{}
	if d.memory != "" && want.memory > 0 {
		l.memory = filepath.Join(d.memory, d.name, name)
		l.homes = append(l.homes, d.memory)
	}
	if d.cpu != "" && want.cpu > 0 {
		l.cpu = filepath.Join(d.cpu, d.name, name)
		l.homes = append(l.homes, d.cpu)
	}
	if len(l.homes) == 0 {
		return nil, nil
	}
	if err := l.make(want); err != nil {
		l.remove()
		return nil, err
	}
	return l, nil
}

func (l *limited) make(want limits) error {
	if l.memory != "" {
		if err := os.Mkdir(l.memory, 0o755); err != nil {
			return err
		}
		value := strconv.FormatInt(want.memory, 10)
		if err := setFile(l.memory, "memory.limit_in_bytes", value); err != nil {
			return fmt.Errorf("set a memory limit of %s bytes: %w", value, err)
		}
		// Memory and swap together; kernels without swap accounting lack the file.
		_ = setFile(l.memory, "memory.memsw.limit_in_bytes", value)
	}
	if l.cpu == "" {
		return nil
	}
	if err := os.Mkdir(l.cpu, 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	if want.cpuRequest > 0 {
		_ = setFile(l.cpu, "cpu.shares", strconv.FormatInt(want.shares(), 10))
	}
	_ = setFile(l.cpu, "cpu.cfs_period_us", strconv.Itoa(cpuPeriod))
	if err := setFile(l.cpu, "cpu.cfs_quota_us", strconv.FormatInt(want.quota(), 10)); err != nil {
		return fmt.Errorf("set a CPU limit of %dm: %w", want.cpu, err)
	}
	return nil
}

// enter moves the calling thread, so that what it forks is born inside.
func (l *limited) enter() error {
	for _, dir := range []string{l.memory, l.cpu} {
		if dir == "" {
			continue
		}
		if err := setFile(dir, "tasks", strconv.Itoa(unix.Gettid())); err != nil {
			return err
		}
	}
	return nil
}

// leave moves the calling thread back.
func (l *limited) leave() error {
	for _, home := range l.homes {
		if err := setFile(home, "tasks", strconv.Itoa(unix.Gettid())); err != nil {
			return err
		}
	}
	return nil
}

func (l *limited) oomKills() int64 {
	if l.memory == "" {
		return 0
	}
	return counter(l.memory, "memory.oom_control", "oom_kill")
}

func (l *limited) remove() {
	pause := patience{limit: killPatience}
	for _, dir := range []string{l.memory, l.cpu} {
		for dir != "" && errors.Is(os.Remove(dir), unix.EBUSY) && pause.next() {
		}
	}
}

// sweepDivided ends and removes what a former host process left under dir.
func sweepDivided(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		pause := patience{limit: killPatience}
		for os.Remove(path) != nil && pause.next() {
			killMembers(path)
		}
	}
	os.Remove(dir)
}

func killMembers(dir string) {
	data, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	for _, field := range strings.Fields(string(data)) {
		if pid, err := strconv.Atoi(field); err == nil {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}
