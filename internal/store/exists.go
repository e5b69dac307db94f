package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Exists reports whether Open would find a store in dir, or one that is being made. Where that cannot be seen it is true, and
// Open returns what is wrong.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "etcd"))
	return !errors.Is(err, fs.ErrNotExist)
}
