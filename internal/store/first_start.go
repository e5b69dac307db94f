package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/datadir"
)

// firstStart is a file in etcd's directory from before etcd makes its files until it has been ready once.
//
// etcd's own first start is no single step. A kill in the middle leaves a log without an entry, which etcd takes for that
// of a member that others know, and waits for them for ever. As long as this file is there nothing has been stored, so
// that what a start left behind can go.
const firstStart = "first-start"

// clearUnfinishedStart removes what a start left behind that never ended, and marks a start that is the first.
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

// mostEntries is more than etcd itself logs until it is ready (4 or 5), and fewer than a server that has been used has.
const mostEntries = 16

// removeUnfinished leaves a store alone that was put beside the mark, such as one from a backup.
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
	if n := max(held, logged); n > mostEntries {
		return fmt.Errorf("%s says that nothing was ever stored, and %s holds %d entries; both were left as they are: "+
			"if you have put that store there, remove the file", filepath.Join(etcdDir, firstStart), member, n)
	}
	dir, err := beneath.Open(etcdDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Remove("member")
}

// endFirstStart is called once etcd is ready, before anything is stored. It returns when the mark cannot come back, not
// even by a loss of power.
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
