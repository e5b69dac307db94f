package layer

import (
	"errors"
	"fmt"
	"path"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
)

// Mount points of every container: directories, and files for name resolution. They are created once, in the image, as
// creating them in a container would write to its disk.
var (
	mountedDirs  = []string{"dev", "proc", "sys"}
	mountedFiles = []string{"etc/hostname", "etc/hosts", "etc/resolv.conf"}
)

// createMountPoints creates the mount points that the image lacks. If something of another type is in the place of one, it is
// replaced: a mount would hide it anyway, and a link would make the mount appear elsewhere.
func (m *merging) createMountPoints() error {
	for _, p := range mountedDirs {
		s, there, err := stat(m.root.dir, p)
		if err == nil && (!there || !isDir(s)) {
			if err = m.root.removeExisting(m.root.dir, p); err == nil {
				err = makeDir(m.root.dir, p)
			}
		}
		if err != nil {
			return fmt.Errorf("make /%s: %w", p, err)
		}
	}
	for _, p := range mountedFiles {
		if err := m.createMountFile(p); err != nil {
			return fmt.Errorf("make /%s: %w", p, err)
		}
	}
	return nil
}

func (m *merging) createMountFile(p string) error {
	f, err := beneath.OpenInRoot(int(m.root.dir.Fd()), p, unix.O_PATH)
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
		if err := m.root.removeExisting(dir, path.Base(p)); err != nil {
			return err
		}
		file, err := createFile(int(dir.Fd()), path.Base(p))
		if err != nil {
			return err
		}
		return errors.Join(file.Chmod(0o644), file.Close())
	})
}
