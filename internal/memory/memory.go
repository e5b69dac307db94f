// Package memory tunes the memory of long-lived processes: the settings of the garbage collector, and pages that are returned
// after the start.
package memory

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// gcPercent trades memory for CPU time: at Go's default of 100, a busy server spends a quarter of its CPU time on garbage
// collection.
const gcPercent = 300

// container is the file with the memory limit of the cgroup, "max" for no limit.
const container = "/sys/fs/cgroup/memory.max"

// Tune makes garbage collection less frequent, until the memory limit is near: a quarter of the machine's memory, or
// nine tenths of the container's limit. GOGC and GOMEMLIMIT take precedence.
var Tune = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	var machine unix.Sysinfo_t
	if os.Getenv("GOMEMLIMIT") != "" || unix.Sysinfo(&machine) != nil {
		return
	}
	limit := int64(machine.Totalram) * int64(machine.Unit) / 4
	if text, err := os.ReadFile(container); err == nil {
		limit = within(limit, text)
	}
	debug.SetMemoryLimit(limit)
})

// within leaves a tenth of the container's limit for memory that Go does not count.
func within(limit int64, container []byte) int64 {
	most, err := strconv.ParseInt(string(bytes.TrimSpace(container)), 10, 64)
	if err != nil {
		return limit
	}
	return min(limit, most/10*9)
}
