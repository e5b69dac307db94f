package store

import (
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"

	"github.com/stint-dev/stint/internal/datadir"
)

// checkLog reads the first record of every segment of etcd's log.
//
// etcd assumes that a crash tore a segment that it cannot read, and truncates it there. But a crash tears only the end: a
// segment gets its name after its first record has been written to disk. If even the first record cannot be read, the
// segment is damaged, and etcd must not start, because it would truncate all of it.
func checkLog(etcdDir string) error {
	dir := filepath.Join(etcdDir, "member", "wal")
	segments, err := fs.Glob(os.DirFS(dir), "*.wal")
	if err != nil {
		return err
	}
	for _, segment := range segments {
		path := filepath.Join(dir, segment)
		if err := checkSegment(path); err != nil {
			return damaged(path, err, etcdDir)
		}
	}
	return nil
}

func checkSegment(path string) error {
	f, err := datadir.Open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	return wal.NewDecoder(fileutil.NewFileReader(f)).Decode(&walpb.Record{})
}
