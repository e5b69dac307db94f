// Package closeonexec keeps programs that this one starts from inheriting the open files of its caller, such as a file that
// only the caller may read, or a lock that must be released when this program ends.
package closeonexec

import (
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// first is the first descriptor after the standard streams.
const first = 3

// Keep marks all open descriptors except the standard streams as close-on-exec. A program calls it before anything else:
// files that Go opens later are close-on-exec by themselves.
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
