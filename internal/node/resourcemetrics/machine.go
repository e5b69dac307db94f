package resourcemetrics

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Machine measures all processes of this machine.
func Machine() (runtime.ResourceUsage, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return runtime.ResourceUsage{}, err
	}
	memory, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return runtime.ResourceUsage{}, err
	}
	usage := runtime.ResourceUsage{Running: true}
	if usage.CPU, err = busyTime(string(stat)); err == nil {
		usage.Memory, err = memoryInUse(string(memory))
	}
	return usage, err
}

// tick is the unit of CPU times in /proc.
const tick = 10 * time.Millisecond

// busyTime adds up what the first line of /proc/stat counts: "cpu user nice system idle iowait irq softirq steal guest …". Guests
// are a part of user and nice; what other machines have taken (steal) was not used here.
func busyTime(stat string) (time.Duration, error) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 8 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %q", line)
	}
	var busy time.Duration
	for _, n := range []int{1, 2, 3, 6, 7} {
		ticks, err := strconv.ParseInt(fields[n], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		busy += time.Duration(ticks) * tick
	}
	return busy, nil
}

// memoryInUse returns what of the memory is not available for more programs.
func memoryInUse(meminfo string) (int64, error) {
	total, err := kibibytes(meminfo, "MemTotal")
	if err != nil {
		return 0, err
	}
	available, err := kibibytes(meminfo, "MemAvailable")
	return (total - available) << 10, err
}

func kibibytes(meminfo, name string) (int64, error) {
	for line := range strings.Lines(meminfo) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
		}
	}
	return 0, fmt.Errorf("/proc/meminfo has no %s", name)
}
