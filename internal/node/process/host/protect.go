package host

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/wire"
)

// protectProgram executes this program once more, by a mount that is read-only. An image may have a link to /proc/self/exe as
// its program, which is this program's file when a container executes it: its other processes could write to that file
// (CVE-2019-5736). Where the kernel does not allow the mount, the file can only not be written to while it is executed.
func protectProgram() {
	var at unix.Statfs_t
	if unix.Statfs(wire.Self, &at) != nil || at.Flags&unix.ST_RDONLY != 0 {
		nameProcess()
		return
	}
	fd, err := readOnlyMount(wire.Self)
	if err == nil {
		err = syscall.Exec(fmt.Sprint("/proc/self/fd/", fd), os.Args, os.Environ())
	}
	slog.Info("The program is not protected by a read-only mount", "err", err)
}

// protectMemory keeps other processes of this user from reading the memory of this process, which has the environments of all
// containers, and the kernel from writing it to a core file: before Linux 5.16 a core dump of a child that shares the memory
// ends this process too.
func protectMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("protect the memory of the process: %w", err)
	}
	return nil
}

// readOnlyMount opens a file by a new mount, which is not attached anywhere.
func readOnlyMount(path string) (fd int, err error) {
	fd, err = unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return -1, err
	}
	return fd, unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// nameProcess gives the process the name that it would have if it had not been executed by its descriptor.
func nameProcess() {
	_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0)
}
