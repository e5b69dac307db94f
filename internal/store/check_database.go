package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stint-dev/stint/internal/datadir"
	"github.com/stint-dev/stint/internal/store/boltpages"
)

// checkDatabase reads all used pages of the database. etcd maps the file into memory, and a damaged or missing page ends
// the process with a stack trace or without any message.
func checkDatabase(etcdDir string) error {
	path := filepath.Join(etcdDir, "member", "snap", "db")
	f, err := datadir.Open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 { // etcd creates a database in an empty file
		return err
	}
	if err := checkPages(f, info.Size()); err != nil {
		return damaged(path, err, etcdDir)
	}
	return nil
}

func checkPages(f io.ReaderAt, size int64) error {
	var c checkResult
	if err := boltpages.Walk(f, size, c.checkEntry); err != nil {
		return err
	}
	return c.checkComplete()
}
