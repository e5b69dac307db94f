package rootfs

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ShowCgroups mounts a tmpfs at /sys/fs/cgroup in the root file system that the thread is in. It has directories of these
// names, as mount points for cgroups, and links to them. It must be called before volumes are mounted. It returns a
// descriptor of the tmpfs, which the caller closes.
func ShowCgroups(names []string, links map[string]string, writable bool) (int, error) {
	const attributes = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
	mount, err := newMount("tmpfs", attributes, option{"mode", "0755"})
	if err != nil {
		return -1, fmt.Errorf("make %s/fs/cgroup: %w", templateSys, err)
	}
	if err := fillCgroups(mount, names, links, writable); err != nil {
		unix.Close(mount)
		return -1, fmt.Errorf("make %s/fs/cgroup: %w", templateSys, err)
	}
	return mount, nil
}

func fillCgroups(mount int, names []string, links map[string]string, writable bool) error {
	for _, name := range names {
		if err := unix.Mkdirat(mount, name, 0o755); err != nil {
			return err
		}
	}
	for name, target := range links {
		if err := unix.Symlinkat(target, mount, name); err != nil {
			return err
		}
	}
	if !writable {
		if err := unix.MountSetattr(mount, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return err
		}
	}
	return unix.MoveMount(mount, "", unix.AT_FDCWD, templateSys+"/fs/cgroup", unix.MOVE_MOUNT_F_EMPTY_PATH)
}
