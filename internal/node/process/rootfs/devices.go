package rootfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// deviceNumbers are the devices that every container has, with their major and minor numbers.
var deviceNumbers = map[string][2]uint32{
	"null": {1, 3}, "zero": {1, 5}, "full": {1, 7}, "random": {1, 8}, "urandom": {1, 9}, "tty": {5, 0},
}

var deviceLinks = map[string]string{
	"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	"core": "/proc/kcore", "ptmx": "pts/ptmx",
}

// devices makes the /dev of containers.
type devices struct {
	// bound is whether device files cannot be made here, so that those of the machine are bound into /dev.
	bound bool
	// ttyGroup is whether group 5, which terminals belong to, exists in this user namespace.
	ttyGroup bool
}

// openDevices finds out how device files and terminals can be made. If the machine's device files are needed, it binds them
// into dir, from where moveDevice takes them.
func openDevices(dir string) (devices, error) {
	d := devices{}
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		return d, err
	}
	d.ttyGroup = os.Chown(probe, -1, ttyGroup) == nil
	if err := os.Remove(probe); err != nil {
		return d, err
	}
	if unix.Mknod(probe, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))) == nil {
		null, err := os.OpenFile(probe, os.O_WRONLY, 0)
		if err == nil {
			return d, null.Close()
		}
	}
	d.bound = true
	for name := range deviceNumbers {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			return d, err
		}
		if err := unix.Mount(filepath.Join("/dev", name), at, "", unix.MS_BIND, ""); err != nil {
			return d, fmt.Errorf("show /dev/%s: %w", name, err)
		}
	}
	return d, nil
}

const ttyGroup = 5

// mount mounts a /dev at point, a directory, and returns the root of the mount.
func (d devices) mount(point int) (int, error) {
	dev, err := mountAt(point, "tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_STRICTATIME,
		option{"mode", "0755"}, option{"size", "64m"})
	if err != nil {
		return -1, err
	}
	if err := d.fill(dev); err != nil {
		unix.Close(dev)
		return -1, err
	}
	return dev, nil
}

func (d devices) fill(dev int) error {
	if err := d.nodes(dev); err != nil {
		return err
	}
	for name, target := range deviceLinks {
		if err := unix.Symlinkat(target, dev, name); err != nil {
			return err
		}
	}
	if err := d.terminals(dev); err != nil {
		return fmt.Errorf("pts: %w", err)
	}
	if err := mountIn(dev, "shm", "tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC,
		option{"mode", "1777"}, option{"size", "64m"}); err != nil {
		return fmt.Errorf("shm: %w", err)
	}
	return unix.Mkdirat(dev, "mqueue", 0o755)
}

func (d devices) terminals(dev int) error {
	options := []option{{"newinstance", ""}, {"ptmxmode", "0666"}, {"mode", "0620"}}
	if d.ttyGroup {
		options = append(options, option{"gid", "5"})
	}
	return mountIn(dev, "pts", "devpts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, options...)
}

func (d devices) nodes(dev int) error {
	// The mode of mknod is subject to the umask of the host.
	for name, number := range deviceNumbers {
		var err error
		if d.bound {
			err = moveDevice(dev, name)
		} else if err = unix.Mknodat(dev, name, unix.S_IFCHR|0o666, int(unix.Mkdev(number[0], number[1]))); err == nil {
			err = unix.Fchmodat(dev, name, 0o666, 0)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// moveDevice moves the machine's device file to name in dev. The template was copied for this container, so its mounts can
// be moved.
func moveDevice(dev int, name string) error {
	fd, err := unix.Openat(dev, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	unix.Close(fd)
	return unix.MoveMount(unix.AT_FDCWD, filepath.Join(templateDevices, name), dev, name, 0)
}

// openNull opens the null device of a /dev.
func openNull(dev int) (int, error) {
	fd, err := unix.Openat(dev, "null", unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	var stat unix.Stat_t
	number := deviceNumbers["null"]
	if err = unix.Fstat(fd, &stat); err == nil && (stat.Mode&unix.S_IFMT != unix.S_IFCHR || stat.Rdev != unix.Mkdev(number[0], number[1])) {
		err = errors.New("it is not the null device")
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
