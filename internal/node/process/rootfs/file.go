package rootfs

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
)

// showFile mounts a file with this content at path, for this container alone. The file is made in memory, the container's
// tmpfs of /dev, and its name there is removed.
func showFile(memory, root int, path, content string) error {
	const name = ".file"
	fd, err := unix.Openat(memory, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte(content))
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		return err
	}
	// The path may lead through symbolic links of the image, but not out of it.
	at, err := beneath.OpenInRoot(root, path, unix.O_PATH)
	if err != nil {
		return &ImageError{"the image has no " + path + ": " + err.Error()}
	}
	defer at.Close()
	file, err := unix.OpenTree(memory, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(file)
	if err := unix.MoveMount(file, "", int(at.Fd()), "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return err
	}
	return unix.Unlinkat(memory, name, 0)
}
