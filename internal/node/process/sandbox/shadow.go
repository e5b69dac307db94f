package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/rootfs"
)

// maxShadow bounds how many entries of a directory are bound back into its shadow: each is a mount.
const maxShadow = 2048

// overlayDir is a shadow: a tmpfs that is mounted over a directory of the machine in one mount namespace, and has the same
// entries.
type overlayDir struct {
	// path is the path of the directory, fd the root of the tmpfs and device its device number.
	path   string
	fd     int
	device uint64
	// wasWritable is whether the container's user could have written to the directory.
	wasWritable bool
}

// newShadow mounts a shadow over dir. It is put together at stage, an empty directory.
func newShadow(dir *place, path, stage string) (_ *overlayDir, err error) {
	names, err := namesIn(dir.fd)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	if len(names) > maxShadow {
		return nil, fmt.Errorf("%s has %d entries, more than the %d that can be bound into a private copy of it: "+
			"make the mount point on this machine", path, len(names), maxShadow)
	}
	s := &overlayDir{path: path}
	if s.fd, err = stageTmpfs(stage, dir.stat.Mode); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			unix.Close(s.fd)
		}
	}()
	var root unix.Stat_t
	if err := unix.Fstat(s.fd, &root); err != nil {
		return nil, err
	}
	s.device = root.Dev
	// This fails where the owner does not exist in this user namespace. Then the shadow belongs to this process's user.
	_ = unix.Fchownat(s.fd, "", int(dir.stat.Uid), int(dir.stat.Gid), unix.AT_EMPTY_PATH)
	for _, name := range stageFirst(names, path, stage) {
		if err := bindBack(dir.fd, name, s.fd); err != nil {
			return nil, fmt.Errorf("bind %s: %w", filepath.Join(path, name), err)
		}
	}
	if path == "/" {
		return s, rootfs.Pivot(s.fd)
	}
	if err := (tree{fd: s.fd}).attach(dir.fd, ""); err != nil {
		return nil, fmt.Errorf("mount a private copy over %s: %w", path, err)
	}
	return s, nil
}

func namesIn(dir int) ([]string, error) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "directory")
	defer f.Close()
	return f.Readdirnames(-1)
}

// stageTmpfs mounts a tmpfs at stage and opens its root.
func stageTmpfs(stage string, mode uint32) (int, error) {
	if err := unix.Mount("stint", stage, "tmpfs", 0, fmt.Sprintf("mode=%04o", mode&0o1777)); err != nil {
		return -1, fmt.Errorf("mount a tmpfs: %w", err)
	}
	return unix.Open(stage, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// stageFirst orders names so that the entry which contains stage is the first: it is bound while the stage is still empty,
// so that the bind does not contain what is bound there.
func stageFirst(names []string, dir, stage string) []string {
	slices.SortStableFunc(names, func(a, b string) int {
		return rank(within(stage, filepath.Join(dir, a))) - rank(within(stage, filepath.Join(dir, b)))
	})
	return names
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// bindBack binds an entry of one directory into another, unless it was removed after its name was read.
func bindBack(from int, name string, to int) error {
	entry, err := openBelow(from, name)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(entry.fd)
	if entry.isLink() {
		target, err := readLink(entry.fd)
		if err != nil {
			return err
		}
		return unix.Symlinkat(target, to, name)
	}
	if err := makeAt(to, name, entry.isDir()); err != nil {
		return err
	}
	t, err := entry.clone()
	if err != nil {
		return err
	}
	defer t.close()
	return t.attach(to, name)
}

// tree is a detached mount with all mounts below it. Path is where it was copied from, where that is needed.
type tree struct {
	fd   int
	path string
}

type trees []tree

const cloneAll = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE

// cloneTree copies the mount at path.
func cloneTree(path string) (tree, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, cloneAll)
	if err != nil {
		return tree{}, err
	}
	return tree{fd: fd, path: path}, nil
}

// clone copies the place and all mounts below it.
func (p *place) clone() (tree, error) {
	fd, err := unix.OpenTree(p.fd, "", cloneAll|unix.AT_EMPTY_PATH)
	if err != nil {
		return tree{}, err
	}
	return tree{fd: fd}, nil
}

// attach mounts t at name in dir, or at dir itself.
func (t tree) attach(dir int, name string) error {
	flags := unix.MOVE_MOUNT_F_EMPTY_PATH
	if name == "" {
		flags |= unix.MOVE_MOUNT_T_EMPTY_PATH
	}
	return unix.MoveMount(t.fd, "", dir, name, flags)
}

func (t tree) close() { unix.Close(t.fd) }

func (ts trees) close() {
	for _, t := range ts {
		t.close()
	}
}

// attach mounts all trees where they were.
func (ts trees) attach() error {
	for _, t := range ts {
		if err := t.attach(unix.AT_FDCWD, t.path); err != nil {
			return fmt.Errorf("mount %s again: %w", t.path, err)
		}
	}
	return nil
}

// cloneSubmounts copies the mounts directly below dir.
func cloneSubmounts(dir string) (trees, error) {
	mounts, err := os.Open("/proc/thread-self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer mounts.Close()
	var kept trees
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 5 || filepath.Dir(fields[4]) != dir || kept.has(fields[4]) {
			continue
		}
		t, err := cloneTree(fields[4])
		if err != nil {
			kept.close()
			return nil, err
		}
		kept = append(kept, t)
	}
	return kept, nil
}

func (ts trees) has(path string) bool {
	return slices.ContainsFunc(ts, func(t tree) bool { return t.path == path })
}
