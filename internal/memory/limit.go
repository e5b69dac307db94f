package memory

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	// defaultLimit is the largest default of the limit.
	defaultLimit = 1 << 30
	// container is the file with the memory limit of the cgroup, "max" for no limit.
	container = "/sys/fs/cgroup/memory.max"
)

// DefaultLimit returns the default of the limit: a quarter of the machine's memory, at most 1 GiB, and at most nine tenths of
// the container's limit.
func DefaultLimit() int64 {
	limit := int64(defaultLimit)
	var machine unix.Sysinfo_t
	if unix.Sysinfo(&machine) == nil {
		limit = min(limit, int64(machine.Totalram)*int64(machine.Unit)/4)
	}
	if text, err := os.ReadFile(container); err == nil {
		limit = within(limit, text)
	}
	return limit
}

// within leaves a tenth of the container's limit for memory that Go does not count.
func within(limit int64, container []byte) int64 {
	most, err := strconv.ParseInt(string(bytes.TrimSpace(container)), 10, 64)
	if err != nil {
		return limit
	}
	return min(limit, most/10*9)
}

// Limit is the soft limit for the memory of the process.
type Limit struct{ bytes int64 }

// SetLimit makes the garbage collector work harder when the memory of the process gets near to the limit, in bytes. GOMEMLIMIT
// takes precedence, so that Go's own variable works as everywhere.
func SetLimit(bytes int64) Limit {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
	return Limit{debug.SetMemoryLimit(-1)}
}

// Exceeded returns an error if what the process keeps, without garbage, leaves less than a quarter of the limit free. With less,
// the collector would never rest: garbage, stacks and the runtime itself need room, too.
func (l Limit) Exceeded() error {
	live := int64(read(liveBytes))
	if l.bytes == math.MaxInt64 || live < l.bytes/4*3 {
		return nil
	}
	return fmt.Errorf("the server keeps %d MB of objects in memory, and its memory limit is %d MB", live>>20, l.bytes>>20)
}
