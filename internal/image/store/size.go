package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// sizeName is the file beside the files of a layer or tree with the number of bytes that they take. It never changes.
const sizeName = "size"

// writeSize writes the size of a layer or tree, before it is moved to its place.
func writeSize(files string, count func(string) (int64, error)) error {
	size, err := count(files)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(files), sizeName), strconv.AppendInt(nil, size, 10), 0o600)
}

// size returns how many bytes the layers and trees take.
func (s *Store) size() (sum int64, err error) {
	for kind, count := range map[string]func(string) (int64, error){
		layersName: sizeOfLayer, layersName + singleOwnerSuffix: sizeOfLayer, treesName: sizeOfTree, treesName + singleOwnerSuffix: sizeOfTree,
	} {
		entries, err := os.ReadDir(s.path(kind))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		for _, e := range entries {
			size, err := readSize(s.path(kind, e.Name()), count)
			if err != nil {
				return 0, err
			}
			sum += size
		}
	}
	return sum, nil
}

func readSize(dir string, count func(string) (int64, error)) (int64, error) {
	text, err := os.ReadFile(filepath.Join(dir, sizeName))
	if err == nil {
		if size, err := strconv.ParseInt(string(text), 10, 64); err == nil && size >= 0 {
			return size, nil
		}
	}
	return count(dir) // An earlier version did not note it.
}

// sizeOfLayer counts each file once, however many names it has.
func sizeOfLayer(dir string) (int64, error) {
	seen := map[uint64]bool{}
	return sizeOf(dir, func(s *unix.Stat_t) bool {
		defer func() { seen[s.Ino] = true }()
		return !seen[s.Ino]
	})
}

// sizeOfTree leaves out files with other names: they belong to layers.
func sizeOfTree(dir string) (int64, error) {
	return sizeOf(dir, func(s *unix.Stat_t) bool { return s.Nlink == 1 })
}

// sizeOf returns how many bytes directories, and the files that counts accepts, take on disk.
func sizeOf(dir string, counts func(*unix.Stat_t) bool) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		var stat unix.Stat_t
		if err == nil {
			err = unix.Lstat(path, &stat)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENAMETOOLONG):
			return nil // It was removed meanwhile, or its path is too long.
		case err != nil:
			return err
		}
		if stat.Mode&unix.S_IFMT == unix.S_IFDIR || counts(&stat) {
			sum += stat.Blocks * 512
		}
		return nil
	})
	return sum, err
}
