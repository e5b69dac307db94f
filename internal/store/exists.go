package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Exists reports whether dir has a store, which may still be starting for the first time. If that cannot be read, it
// returns true, and Open returns the error.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "etcd"))
	return !errors.Is(err, fs.ErrNotExist)
}
