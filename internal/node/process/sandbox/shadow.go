package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// maxShadow bounds how many entries of a directory are bound back into its shadow: each is a mount.
const maxShadow = 2048

// shadow puts a tmpfs with the same entries in the place of dir, in this mount namespace only. The tmpfs is put
// together at stage, an empty directory.
func shadow(dir, stage string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > maxShadow {
		return fmt.Errorf("%s has %d entries, more than the %d that can be bound into a private copy of it: "+
			"make the mount point on this machine", dir, len(entries), maxShadow)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	options := fmt.Sprintf("mode=%04o", unixMode(info.Mode()))
	if err := unix.Mount("stint", stage, "tmpfs", 0, options); err != nil {
		return fmt.Errorf("mount a tmpfs: %w", err)
	}
	for _, name := range stageFirst(entries, dir, stage) {
		if err := bindBack(filepath.Join(dir, name), filepath.Join(stage, name)); err != nil {
			return err
		}
	}
	if dir == "/" {
		return pivot(stage)
	}
	if err := unix.Mount(stage, dir, "", unix.MS_MOVE, ""); err != nil {
		return fmt.Errorf("put a private copy in the place of %s: %w", dir, err)
	}
	return nil
}

// stageFirst orders names so that the one which holds stage comes first: while the stage is empty, binding the
// directory that it is in copies nothing twice.
func stageFirst(entries []fs.DirEntry, dir, stage string) []string {
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
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

// within tells whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// bindBack shows from at to.
func bindBack(from, to string) error {
	info, err := os.Lstat(from)
	if os.IsNotExist(err) {
		return nil // gone since the directory was read
	}
	if err != nil {
		return err
	}
	return bindEntry(info, from, to)
}

// bindEntry shows from, which is what info tells, at to, unless it is gone since.
func bindEntry(info fs.FileInfo, from, to string) error {
	err := bind(info, from, to)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, gone := os.Lstat(from); !os.IsNotExist(gone) {
		return err
	}
	if err := os.Remove(to); !os.IsNotExist(err) {
		return err
	}
	return nil
}

func bind(info fs.FileInfo, from, to string) error {
	var err error
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case info.IsDir():
		err = os.Mkdir(to, info.Mode().Perm())
	default:
		err = makeFile(to)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind %s: %w", from, err)
	}
	return nil
}

// pivot makes newRoot the root of this mount namespace and lets go of the old one.
func pivot(newRoot string) error {
	if err := unix.Chdir(newRoot); err != nil {
		return err
	}
	// The old root comes to lie on top of the new one, where it is unmounted.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change to a private copy of the root directory: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the root directory: %w", err)
	}
	return unix.Chdir("/")
}

func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	return f.Close()
}

func unixMode(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	if m&fs.ModeSticky != 0 {
		bits |= unix.S_ISVTX
	}
	return bits
}

// tree is a mount, with all below it, that is attached nowhere.
type tree struct {
	fd   int
	path string
}

type trees []tree

// cloneTree copies what is mounted at path. Done before the first mount, it sees sources that later mounts hide.
func cloneTree(path string) (tree, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return tree{}, err
	}
	return tree{fd: fd, path: path}, nil
}

// attach mounts t at path.
func (t tree) attach(path string) error {
	return unix.MoveMount(t.fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH)
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
		if err := t.attach(t.path); err != nil {
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
