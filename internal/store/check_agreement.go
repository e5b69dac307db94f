package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"

	"github.com/stint-dev/stint/internal/datadir"
)

// checkAgreement finds a log that has lost its end: etcd writes every entry to the log before the database, so the log
// must have as many entries. With fewer, etcd would take new writes for entries that the database has and never answer
// them.
func checkAgreement(etcdDir string) error {
	held, err := entriesInDatabase(filepath.Join(etcdDir, "member", "snap", "db"))
	if err != nil {
		return err
	}
	logDir := filepath.Join(etcdDir, "member", "wal")
	logged, isThere, err := entriesInLog(logDir)
	switch {
	case err != nil:
	case logged < held:
		err = fmt.Errorf("it ends after %d entries of %d", logged, held)
	case logged == 0 && isThere: // etcd would wait forever for other members
		err = errors.New("it holds no entry")
	default:
		return nil
	}
	return damaged(logDir, err, etcdDir)
}

// entriesInDatabase returns how many entries of the log the database has applied. It returns 0 if the database cannot be
// read: checkDatabase and etcd report that.
func entriesInDatabase(path string) (held uint64, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	defer func() {
		if recover() != nil {
			held, err = 0, nil
		}
	}()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return 0, nil
	}
	err = db.View(func(tx *bbolt.Tx) error {
		if meta := tx.Bucket(schema.Meta.Name()); meta != nil {
			if value := meta.Get(schema.MetaConsistentIndexKeyName); len(value) == 8 {
				held = binary.BigEndian.Uint64(value)
			}
		}
		return nil
	})
	return held, errors.Join(err, db.Close())
}

// entriesInLog returns the number of the last entry of the log, and whether there is a log.
func entriesInLog(dir string) (logged uint64, isThere bool, err error) {
	segments, err := fs.Glob(os.DirFS(dir), "*.wal")
	if err != nil || len(segments) == 0 {
		return 0, false, err
	}
	logged, err = entriesIn(filepath.Join(dir, slices.Max(segments)))
	return logged, true, err
}

// entriesIn returns the number of the last entry in the log's last segment, path.
func entriesIn(path string) (uint64, error) {
	var number, next uint64
	if _, err := fmt.Sscanf(filepath.Base(path), "%x-%x.wal", &number, &next); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	f, err := datadir.Open(path, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return lastEntry(wal.NewDecoder(fileutil.NewFileReader(f)), max(next, 1)-1)
}

func lastEntry(segment wal.Decoder, before uint64) (last uint64, err error) {
	last = before
	for {
		var record walpb.Record
		err := segment.Decode(&record)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return last, nil // After a crash the end may be torn.
		}
		if err != nil {
			return 0, err
		}
		switch record.GetType() {
		case wal.CrcType:
			segment.UpdateCRC(record.GetCrc())
		case wal.EntryType:
			entry := wal.MustUnmarshalEntry(record.Data) // It does not panic: Decode has checked the checksum.
			last = entry.GetIndex()
		}
	}
}
