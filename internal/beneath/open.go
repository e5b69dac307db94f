package beneath

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// maxTries is how often a lookup is tried: the kernel fails one with ".." in it (EAGAIN) when a file is renamed meanwhile
// anywhere on the machine.
const maxTries = 10_000

// OpenInRoot opens path as if root were the root directory, so that no link in it leads outside.
func OpenInRoot(root int, path string, flags uint64) (*os.File, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	for try := 1; ; try++ {
		fd, err := unix.Openat2(root, path, &how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case !errors.Is(err, unix.EAGAIN) || try == maxTries:
			return nil, err
		}
	}
}
