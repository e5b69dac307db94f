package rootfs

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maskedSys are directories of /sys that show or change the machine's firmware and power.
var maskedSys = []string{"firmware", "devices/virtual/powercap"}

// mountSys mounts a read-only /sys at path. A user namespace may mount a new sysfs only with a network namespace of its
// own. Without one, the machine's /sys is cloned, with all mounts below it.
func mountSys(path string) error {
	const attributes = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
	mount, err := newMount("sysfs", attributes)
	if err != nil {
		if mount, err = cloneReadOnly("/sys"); err != nil {
			return err
		}
	}
	defer unix.Close(mount)
	if err := unix.MoveMount(mount, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return err
	}
	for _, name := range maskedSys {
		at := filepath.Join(path, name)
		if _, err := os.Lstat(at); err != nil {
			continue
		}
		if err := unix.Mount("stint", at, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=0k"); err != nil {
			return err
		}
	}
	return nil
}

// OpenSys unmasks /sys in the mount namespace of the thread and makes it writable.
func OpenSys() error {
	for _, name := range maskedSys {
		at := filepath.Join(templateSys, name)
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil && err != unix.EINVAL && err != unix.ENOENT {
			return fmt.Errorf("show %s: %w", at, err)
		}
	}
	err := unix.MountSetattr(unix.AT_FDCWD, templateSys, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	if err != nil {
		return fmt.Errorf("make /sys writable: %w", err)
	}
	return nil
}

func cloneReadOnly(path string) (int, error) {
	mount, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, err
	}
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(mount, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr); err != nil {
		unix.Close(mount)
		return -1, err
	}
	return mount, nil
}
