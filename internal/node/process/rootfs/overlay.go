package rootfs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// overlay is an overlay file system of the tree of an image and an upper directory. One container after another uses it.
type overlay struct {
	tree  string
	owner string
	// name is the name of its directory, beside those of the other overlays, and of its mount point in overlays.stage.
	name string
	path string
	// lock is the tree with a shared flock, which keeps every process from removing it.
	lock *os.File
	// upper is the directory for what containers write, fresh its state after mounting.
	upper *os.File
	fresh upperState
}

// newOverlay mounts an overlay. The thread must be in the namespace of the overlays.
func (all *overlays) newOverlay(tree, name string) (_ *overlay, err error) {
	o := &overlay{tree: tree, name: name, path: filepath.Join(all.stage, name)}
	defer func() {
		if err != nil {
			all.drop(o)
		}
	}()
	if o.lock, err = lockTree(tree); err != nil {
		return o, err
	}
	if err = os.Mkdir(o.path, 0o700); err != nil {
		return o, err
	}
	if o.upper, err = all.makeDir(name, "upper"); err != nil {
		return o, err
	}
	if err = sameOwner(o.lock, o.upper); err != nil {
		return o, err
	}
	work, err := all.makeDir(name, "work")
	if err != nil {
		return o, err
	}
	defer work.Close()
	if err = all.mount(o, work); err != nil {
		return o, err
	}
	o.fresh, err = stateOf(o.upper)
	return o, err
}

// makeDir makes and opens a directory of the overlay of that name.
func (all *overlays) makeDir(overlay, name string) (*os.File, error) {
	dir := filepath.Join(all.name, overlay)
	if err := all.parent.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	if err := all.parent.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	return all.parent.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
}

// mount passes directories as descriptors, because a path may contain the separator of mount options.
func (all *overlays) mount(o *overlay, work *os.File) error {
	options := []option{
		{"lowerdir", descriptorPath(o.lock)}, {"upperdir", descriptorPath(o.upper)}, {"workdir", descriptorPath(work)},
		// What a container writes does not outlive it, so it need not be synced.
		{"volatile", ""},
	}
	if all.userxattr {
		options = append(options, option{"userxattr", ""})
	}
	// Device files of an image are disabled, because no cgroup restricts which devices a container may use.
	mount, err := newMount("overlay", unix.MOUNT_ATTR_NODEV, options...)
	if err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	defer unix.Close(mount)
	return unix.MoveMount(mount, "", unix.AT_FDCWD, o.path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

func descriptorPath(f *os.File) string { return "/proc/thread-self/fd/" + strconv.Itoa(int(f.Fd())) }

// ErrTreeBusy means that a tree is being removed.
var ErrTreeBusy = errors.New("the image is being removed")

func lockTree(tree string) (*os.File, error) {
	dir, err := openDir(tree)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		dir.Close()
		return nil, fmt.Errorf("%w: %s", ErrTreeBusy, tree)
	}
	// It may have been removed before it was locked.
	mine, err1 := dir.Stat()
	theirs, err2 := os.Stat(tree)
	if err1 != nil || err2 != nil || !os.SameFile(mine, theirs) {
		dir.Close()
		return nil, fmt.Errorf("%w: %s", ErrTreeBusy, tree)
	}
	return dir, nil
}

func openDir(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// sameOwner copies owner and mode of the image's root directory to the upper directory, whose attributes the container sees.
func sameOwner(tree, upper *os.File) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(tree.Fd()), &stat); err != nil {
		return err
	}
	if err := upper.Chown(int(stat.Uid), int(stat.Gid)); err != nil {
		return err
	}
	return unix.Fchmod(int(upper.Fd()), stat.Mode&0o7777)
}

// upperState is all that a container can change of an upper directory. The time of the last change alone is not enough:
// before Linux 6.13 two changes within some milliseconds may have the same time.
type upperState struct {
	changed       unix.Timespec
	mode          uint32
	uid, gid      uint32
	entry, xattrs string
}

func stateOf(dir *os.File) (s upperState, err error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &stat); err != nil {
		return s, err
	}
	s = upperState{changed: stat.Ctim, mode: stat.Mode, uid: stat.Uid, gid: stat.Gid}
	if _, err := dir.Seek(0, io.SeekStart); err != nil {
		return s, err
	}
	names, err := dir.Readdirnames(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return s, err
	}
	s.entry = strings.Join(names, "")
	list := make([]byte, 64<<10)
	n, err := unix.Flistxattr(int(dir.Fd()), list)
	if err != nil && !errors.Is(err, unix.ENOTSUP) {
		return s, err
	}
	s.xattrs = string(list[:max(n, 0)])
	return s, nil
}

// clone returns a mount of the overlay for one container. The thread must be in the namespace of the overlays.
func (o *overlay) clone() (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, o.path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("open the image's overlay: %w", err)
	}
	return fd, nil
}

// isPristine reports whether nothing was written, so that the overlay can serve another container.
func (o *overlay) isPristine() bool {
	now, err := stateOf(o.upper)
	return err == nil && now == o.fresh
}
