package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// processLimit says what bounds the number of processes of a container that has no limit of its own.
func (b *Sandbox) processLimit() string {
	if b.config.MaxPIDs > 0 && (b.unified != nil && b.unified.holds("pids") || b.legacy.pids != nil) {
		return fmt.Sprintf("at most %d a container", b.config.MaxPIDs)
	}
	return ""
}

// maxTogether bounds the processes of all containers together: half of what the machine can have, but at least the limit of one
// container. Zero and less are without limit.
func maxTogether(container, machine int64) int64 {
	if container <= 0 {
		return container
	}
	return max(container, machine/2)
}

// machinePIDs is how many processes and threads the machine can have.
func machinePIDs() int64 {
	least := int64(1 << 15)
	for i, file := range []string{"pid_max", "threads-max"} {
		data, err := os.ReadFile(filepath.Join("/proc/sys/kernel", file))
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
		if err == nil && (i == 0 || n < least) {
			least = n
		}
	}
	return least
}

// maxPIDs is a limit in the words of the kernel.
func maxPIDs(n int64) string {
	if n <= 0 {
		return "max"
	}
	return strconv.FormatInt(n, 10)
}
