package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func (u *unified) limitsPIDs() bool { return u.maxPIDs > 0 && u.holds("pids") }

// processLimit says what bounds the number of processes.
func (b *Sandbox) processLimit() string {
	if b.unified != nil && b.unified.limitsPIDs() || b.legacy.pids != nil {
		return fmt.Sprintf("at most %d a container", b.config.MaxPIDs)
	}
	return ""
}

// maxTogether bounds the processes of all containers together: half of what the machine can have, but at least the limit of one
// container.
func maxTogether(container, machine int64) int64 { return max(container, machine/2) }

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

func limitPIDs(dir string, most int64) error {
	return setFile(dir, "pids.max", strconv.FormatInt(most, 10))
}
