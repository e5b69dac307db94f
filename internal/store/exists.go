package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Exists tells whether Open would find a store in dir, or somebody making one. Where that cannot be seen it says so too,
// and Open tells what is wrong.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "etcd"))
	return !errors.Is(err, fs.ErrNotExist)
}
