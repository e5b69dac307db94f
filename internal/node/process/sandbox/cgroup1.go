package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// legacy is the Sandbox's part of the version 1 trees, for controllers that are not in the version 2 tree. Only containers
// with limits get cgroups there: moving a thread into one takes milliseconds.
type legacy struct {
	name string
	// parts are those of the trees in which containers have cgroups; memory and cpu are the two of them with limits.
	parts       []*part
	memory, cpu *part
	pids        *legacyPIDs
}

// part is the Sandbox's part of one tree.
type part struct {
	hierarchy
	dir string
}

// openLegacy finds out which of the controllers can be used.
func openLegacy(all []hierarchy, config Config) *legacy {
	d := &legacy{name: config.Name}
	d.memory = d.open(all, "memory", "memory.limit_in_bytes")
	d.cpu = d.open(all, "cpu", "cpu.cfs_quota_us")
	if len(d.parts) > 0 {
		// A JVM ignores all its limits unless it sees these cgroups as well.
		d.open(all, "cpuacct", "cpuacct.usage")
		d.open(all, "cpuset", "cpuset.cpus")
	}
	for _, h := range all {
		if slices.Contains(h.controllers, "pids") && canMake(h.home, d.name, "pids.max") {
			d.pids = openLegacyPIDs(h.home, d.name, config.MaxPIDs)
		}
	}
	return d
}

// open returns the Sandbox's part of the tree with the controller; nil if there is none.
func (d *legacy) open(all []hierarchy, controller, control string) *part {
	has := func(h hierarchy) bool { return slices.Contains(h.controllers, controller) }
	for _, p := range d.parts {
		if has(p.hierarchy) {
			return p
		}
	}
	for _, h := range all {
		if !has(h) || !canMake(h.home, d.name, control) {
			continue
		}
		p := &part{hierarchy: h, dir: filepath.Join(h.home, d.name)}
		if p.setsCPUs() && p.inheritCPUs() != nil {
			os.Remove(p.dir)
			continue
		}
		d.parts = append(d.parts, p)
		return p
	}
	return nil
}

func (p *part) setsCPUs() bool { return slices.Contains(p.controllers, "cpuset") }

// inheritCPUs gives cgroups in this part the CPUs and memory nodes of this process. A new cpuset has none.
func (p *part) inheritCPUs() error {
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		ours, err := os.ReadFile(filepath.Join(p.home, name))
		if err != nil {
			return err
		}
		if err := setFile(p.dir, name, string(ours)); err != nil {
			return err
		}
	}
	return setFile(p.dir, "cgroup.clone_children", "1")
}

// canMake makes the directory name under home and reports whether its file control can be written.
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

func (d *legacy) dirs() []string {
	var dirs []string
	for _, p := range d.parts {
		dirs = append(dirs, p.dir)
	}
	if d.pids != nil {
		dirs = append(dirs, d.pids.dir)
	}
	return slices.Compact(dirs)
}

func (d *legacy) close() {
	for _, dir := range d.dirs() {
		os.Remove(dir)
	}
}

// sweepLegacy kills what a former host process left in the cgroups under dir and in dir itself, where older versions had the processes of all
// containers for the pids controller. It removes these cgroups.
func sweepLegacy(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			sweepCgroup(filepath.Join(dir, e.Name()))
		}
	}
	sweepCgroup(dir)
}

func sweepCgroup(dir string) {
	pause := killWait{limit: killTimeout}
	for os.Remove(dir) != nil && pause.next() {
		killMembers(dir)
	}
}

func killMembers(dir string) {
	data, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	for _, field := range strings.Fields(string(data)) {
		if pid, err := strconv.Atoi(field); err == nil {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}
