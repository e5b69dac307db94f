package crilog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// rotatedLayout is the suffix of rotated files: 0.log.20260102-150405.123456789. Names sort by time. It has nanoseconds,
// because a container may fill many files in a second; files of older versions, without them, sort first.
const rotatedLayout = ".20060102-150405.000000000"

// rotate renames the current file, makes a new one, and removes the oldest ones. If there is a file of the new name already,
// because the clock was set back, it does nothing and the current file grows. If there can be no new file, the current one stays.
func (w *Writer) rotate(now time.Time) error {
	rotated := w.path + now.UTC().Format(rotatedLayout)
	if _, err := os.Lstat(rotated); err == nil {
		return nil
	}
	if err := os.Rename(w.path, rotated); err != nil && !os.IsNotExist(err) {
		return err
	}
	full := w.file
	if err := w.open(now); err != nil {
		return errors.Join(err, os.Rename(rotated, w.path))
	}
	full.Close()
	return w.removeOldest()
}

func (w *Writer) removeOldest() error {
	files, err := Rotated(w.path)
	if err != nil {
		return err
	}
	for len(files) > max(w.limits.MaxFiles-1, 0) {
		if err := os.Remove(files[0]); err != nil {
			return err
		}
		files = files[1:]
	}
	return nil
}

// Rotated lists the rotated files of the log at path, the oldest first.
func Rotated(path string) ([]string, error) {
	// The pattern is only for the name: the path of the directory may contain special characters.
	dir, name := filepath.Split(path)
	names, err := fs.Glob(os.DirFS(dir), name+".[0-9]*-[0-9]*")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	files := make([]string, len(names))
	for i, name := range names {
		files[i] = filepath.Join(dir, name)
	}
	return files, nil
}
