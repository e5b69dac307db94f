package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/datadir"
)

// firstStart is a file in etcd's directory that marks an unfinished first start. It is written before etcd makes its
// files and removed when etcd is ready.
//
// etcd's first start is not atomic. If it is killed halfway, it may leave a log without an entry, which etcd takes for
// the log of a member of a larger cluster and waits forever for the other members. While the mark exists nothing has
// been stored, so the remains of a start can be removed.
const firstStart = "first-start"

// clearUnfinishedStart removes the files of an unfinished first start, and writes the mark before a first start.
func clearUnfinishedStart(etcdDir string) error {
	unfinished, err := exists(filepath.Join(etcdDir, firstStart))
	if err != nil {
		return err
	}
	if unfinished {
		return removeUnfinished(etcdDir)
	}
	if begun, err := exists(filepath.Join(etcdDir, "member")); begun || err != nil {
		return err
	}
	return datadir.WriteFile(filepath.Join(etcdDir, firstStart), nil, 0o600)
}

// maxStartEntries is more entries than etcd itself logs until it is ready (4 or 5), and fewer than the log of a used
// server has.
const maxStartEntries = 16

// removeUnfinished removes the files of an unfinished start. It returns an error if they are a used store, which was
// put beside the mark: for example a backup.
func removeUnfinished(etcdDir string) error {
	member := filepath.Join(etcdDir, "member")
	held, err := entriesInDatabase(filepath.Join(member, "snap", "db"))
	if err != nil {
		return err
	}
	logged, _, err := entriesInLog(filepath.Join(member, "wal"))
	if err != nil {
		return damaged(filepath.Join(member, "wal"), err, etcdDir)
	}
	if n := max(held, logged); n > maxStartEntries {
		return fmt.Errorf("%s says that nothing was ever stored, and %s holds %d entries; both were left as they are: "+
			"if you have put that store there, remove the file", filepath.Join(etcdDir, firstStart), member, n)
	}
	dir, err := beneath.Open(etcdDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove(context.Background(), "member")
}

// endFirstStart removes the mark. It is called when etcd is ready, before anything is stored, and syncs the directory, so
// that the mark does not reappear after a power failure.
func endFirstStart(etcdDir string) error {
	err := os.Remove(filepath.Join(etcdDir, firstStart))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = datadir.Sync(etcdDir)
	}
	if err != nil {
		return fmt.Errorf("end the first start: %w", err)
	}
	return nil
}

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
