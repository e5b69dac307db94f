package rootfs

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// option is a mount option; one without a value is a flag.
type option struct{ key, value string }

// newMount makes a detached mount.
func newMount(kind string, attributes int, options ...option) (int, error) {
	context, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(context)
	// The source is what mount(8) shows as the device.
	options = append([]option{{"source", kind}}, options...)
	for _, o := range options {
		if o.value == "" {
			err = unix.FsconfigSetFlag(context, o.key)
		} else {
			err = unix.FsconfigSetString(context, o.key, o.value)
		}
		if err != nil {
			return -1, fmt.Errorf("option %s=%s: %w%s", o.key, o.value, err, kernelMessage(context))
		}
	}
	if err := unix.FsconfigCreate(context); err != nil {
		return -1, fmt.Errorf("%w%s", err, kernelMessage(context))
	}
	return unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, attributes)
}

// kernelMessage is the kernel's message about a mount that failed.
func kernelMessage(context int) string {
	text := make([]byte, 1024)
	n, err := unix.Read(context, text)
	if err != nil || n == 0 {
		return ""
	}
	return ": " + string(text[:n])
}

// mountAt mounts a new file system at point, a directory, and returns the root of the mount.
func mountAt(point int, kind string, attributes int, options ...option) (int, error) {
	mount, err := newMount(kind, attributes, options...)
	if err != nil {
		return -1, err
	}
	const flags = unix.MOVE_MOUNT_F_EMPTY_PATH | unix.MOVE_MOUNT_T_EMPTY_PATH
	if err := unix.MoveMount(mount, "", point, "", flags); err != nil {
		unix.Close(mount)
		return -1, err
	}
	return mount, nil
}

// mountIn makes the directory name in dir, which no other process can reach yet, and mounts a new file system there.
func mountIn(dir int, name, kind string, attributes int, options ...option) error {
	if err := unix.Mkdirat(dir, name, 0o755); err != nil {
		return err
	}
	mount, err := newMount(kind, attributes, options...)
	if err != nil {
		return err
	}
	defer unix.Close(mount)
	return unix.MoveMount(mount, "", dir, name, unix.MOVE_MOUNT_F_EMPTY_PATH)
}
