package beneath

import (
	"fmt"
	"io/fs"
	"os"
)

// SetGroup gives the directory and all its contents to a group. Files that are made there later belong to the group as well.
func (d *Dir) SetGroup(group uint32) error {
	root, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", d.file.Fd()))
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := root.Lchown(path, -1, int(group)); err != nil || !e.IsDir() {
			return err
		}
		info, err := root.Lstat(path)
		if err != nil || !info.IsDir() {
			return err
		}
		return root.Chmod(path, info.Mode()|fs.ModeSetgid)
	})
	if err != nil {
		return fmt.Errorf("give %s to group %d: %w", d.file.Name(), group, err)
	}
	return nil
}

// SetGroup calls Dir.SetGroup for the directory at path, which may not be a symbolic link itself.
func SetGroup(path string, group uint32) error {
	d, err := Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.SetGroup(group)
}
