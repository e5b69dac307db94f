package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// tick is the unit of CPU times in /proc on every architecture that Go knows.
const tick = 10 * time.Millisecond

// ResourceUsage measures the container's processes: by its cgroups, or else by adding up what /proc says of each.
func (p *Process) ResourceUsage() runtime.ResourceUsage {
	usage := runtime.ResourceUsage{Running: true}
	memory, counted := p.memoryOfCgroup()
	if counted {
		usage.Memory = memory
	}
	if p.slot.leaf != nil {
		usage.CPU = time.Duration(counter(p.slot.leaf.path, "cpu.stat", "usage_usec")) * time.Microsecond
	}
	if counted && p.slot.leaf != nil {
		return usage
	}
	for _, pid := range p.members() {
		if !counted {
			usage.Memory += residentBytes(pid)
		}
		if p.slot.leaf == nil {
			usage.CPU += time.Duration(statOf(pid).ticks) * tick
		}
	}
	return usage
}

// memoryOfCgroup returns the working set of the container's cgroup, and whether one counts memory. As for a kubelet, that is
// all but the files that have not been read again.
func (p *Process) memoryOfCgroup() (bytes int64, counted bool) {
	dir, current, inactive := "", "memory.current", "inactive_file"
	switch {
	case p.slot.leaf != nil && p.sandbox.unified.holds("memory"):
		dir = p.slot.leaf.path
	case p.legacy != nil && p.legacy.memory != "":
		dir, current, inactive = p.legacy.memory, "memory.usage_in_bytes", "total_inactive_file"
	default:
		return 0, false
	}
	text, err := os.ReadFile(filepath.Join(dir, current))
	if err != nil {
		return 0, false
	}
	bytes, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return max(0, bytes-counter(dir, "memory.stat", inactive)), err == nil
}

// members lists the processes of the container.
func (p *Process) members() []int {
	if p.slot.leaf != nil {
		procs, _ := os.ReadFile(filepath.Join(p.slot.leaf.path, "cgroup.procs"))
		return parsePIDs(procs)
	}
	return slices.Concat(p.sandbox.processes.members(p.PID, mark(p.sandbox.config.Name, p.id)), p.commands.members())
}

// members lists the main process, its descendants, and those whose parent has ended.
func (f *processTree) members(main int, mark string) []int {
	pids := descendants(main)
	marks := map[string]bool{mark: true}
	orphans, _ := f.orphans()
	for _, pid := range orphans {
		if environOf(pid).has(marks) {
			pids = append(pids, descendants(pid)...)
		}
	}
	return pids
}

func (c *commands) members() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var pids []int
	for command := range c.running {
		pids = append(pids, descendants(command.pid)...)
	}
	return pids
}

// residentBytes is how much of a process's memory is in RAM. What processes share counts for each.
func residentBytes(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
