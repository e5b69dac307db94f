package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// limits are the lowest process limits with which etcd works. Below them it fails halfway, and takes a healthy store for
// one that it cannot read.
var limits = []struct {
	resource int
	what     string
	flag     string
	least    uint64
}{
	{unix.RLIMIT_NOFILE, "open files", "-n", 64},
	{unix.RLIMIT_FSIZE, "the size of files", "-f", 4 * segmentBytes},
	// etcd maps ten gigabytes of address space for its database, even if that is small.
	{unix.RLIMIT_AS, "address space", "-v", 12 << 30},
}

func checkLimits() error {
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("read the limit on %s: %w", l.what, err)
		}
		if now.Cur < l.least {
			return fmt.Errorf("the limit on %s (ulimit %s) is %d, and Stint needs at least %d: raise it", l.what, l.flag, now.Cur, l.least)
		}
	}
	return nil
}

// resourceErrors are errors of a machine or process that has reached a limit. They do not mean that the file is damaged.
var resourceErrors = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EFBIG, syscall.ENOSPC, syscall.EDQUOT, syscall.EACCES, syscall.EPERM, syscall.EIO}

// isResourceError reports whether err is a resource error. etcd returns most errors only as text.
func isResourceError(err error) bool {
	for _, known := range resourceErrors {
		if errors.Is(err, known) || strings.HasSuffix(err.Error(), ": "+known.Error()) {
			return true
		}
	}
	return false
}
