// Package memory tunes the memory of long-lived processes: how often garbage is collected, and what is given back after
// the start.
package memory

import (
	"bytes"
	"os"
	"runtime/debug"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// gcPercent uses memory that is free anyway: at Go's 100, a quarter of the work of a busy server is collecting garbage.
const gcPercent = 300

// container is the most that a container may use, "max" where there is no limit.
const container = "/sys/fs/cgroup/memory.max"

// Tune has garbage collected less often, within a limit that brings Go's own care back: a quarter of the machine, or
// most of what a container may use. GOGC and GOMEMLIMIT win.
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

// within leaves a tenth of what a container may use to what Go does not count.
func within(limit int64, container []byte) int64 {
	most, err := strconv.ParseInt(string(bytes.TrimSpace(container)), 10, 64)
	if err != nil {
		return limit
	}
	return min(limit, most/10*9)
}
