package server

import (
	"os"
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// gcPercent trades memory that is free anyway for time: at Go's 100, a quarter of the work of a busy server is
// collecting garbage. The limit brings Go's own care back when the heap is large. GOGC and GOMEMLIMIT win.
const gcPercent = 300

var tuneMemory = sync.OnceFunc(func() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	var machine unix.Sysinfo_t
	if os.Getenv("GOMEMLIMIT") == "" && unix.Sysinfo(&machine) == nil {
		debug.SetMemoryLimit(int64(machine.Totalram) * int64(machine.Unit) / 4)
	}
})
