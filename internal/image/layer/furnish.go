package layer

import (
	"errors"
	"fmt"
	"path"

	"golang.org/x/sys/unix"
)

// What a container gets mounted over: directories, and files that programs look up names by. They are made once here,
// for making them in a container would be a write to its disk.
var (
	mountedDirs  = []string{"dev", "proc", "sys"}
	mountedFiles = []string{"etc/hostname", "etc/hosts", "etc/resolv.conf"}
)

// createMountPoints makes what the image lacks of them. One that is something else is replaced: it would not be seen anyway, and a
// link would have the mount appear elsewhere.
func (m *merging) createMountPoints() error {
	for _, p := range mountedDirs {
		s, there, err := stat(m.root.dir, p)
		if err == nil && (!there || !isDir(s)) {
			if err = m.root.makeRoom(m.root.dir, p); err == nil {
				err = makeDir(m.root.dir, p)
			}
		}
		if err != nil {
			return fmt.Errorf("make /%s: %w", p, err)
		}
	}
	for _, p := range mountedFiles {
		if err := m.furnishFile(p); err != nil {
			return fmt.Errorf("make /%s: %w", p, err)
		}
	}
	return nil
}

func (m *merging) furnishFile(p string) error {
	f, err := m.root.lookUp(p, unix.O_PATH)
	if err == nil {
		defer f.Close()
		var s unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &s); err != nil || s.Mode&unix.S_IFMT == unix.S_IFREG {
			return err
		}
	}
	dir, err := m.root.directory(path.Dir(p))
	if err != nil {
		return err
	}
	return keepTime(dir, func() error {
		if err := m.root.makeRoom(dir, path.Base(p)); err != nil {
			return err
		}
		file, err := createFile(int(dir.Fd()), path.Base(p))
		if err != nil {
			return err
		}
		return errors.Join(file.Chmod(0o644), file.Close())
	})
}
