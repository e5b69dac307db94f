// Package closeonexec keeps what the caller of this program has open out of the programs that it starts: a file that
// only the caller may read, or a lock that is to end with this program.
package closeonexec

import (
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// first is the one after the standard streams.
const first = 3

// Keep has all descriptors but the standard streams closed in what this process executes. It comes before anything
// else in a program: what is opened later is closed on exec by itself.
func Keep() error {
	if unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return nil
	}
	return keepEach() // Linux before 5.11, or a filter that does not know the call
}

func keepEach() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
