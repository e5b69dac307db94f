package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.uber.org/zap/zapcore"

	"github.com/stint-dev/stint/internal/filesystem"
)

const (
	// snapshotEntries is after how many entries of its log etcd makes a snapshot.
	snapshotEntries = 5000
	// keptSegments are kept of the log though a snapshot is newer, for the case that its file is damaged.
	keptSegments = 3
)

// snapshots removes old segments of etcd's log. etcd cannot do it: a snapshot for which the disk has no room is left out, and etcd takes it
// for made.
type snapshots struct {
	log, dir string
	server   *etcdserver.EtcdServer
	// first is the index of the newest snapshot when etcd was started. If a crash came before its record in the log, it is of no use.
	first uint64
}

func newSnapshots(etcdDir string, server *etcdserver.EtcdServer) snapshots {
	s := snapshots{log: filepath.Join(etcdDir, "member", "wal"), dir: filepath.Join(etcdDir, "member", "snap"), server: server}
	s.first = s.newest()
	return s
}

// newest returns the index of the newest snapshot.
func (s snapshots) newest() (index uint64) {
	names, _ := fs.Glob(os.DirFS(s.dir), "*.snap") // The pattern is well-formed.
	for _, name := range names {
		index = max(index, indexOf(name))
	}
	return index
}

// indexOf returns the second number in the name of a segment or of a snapshot.
func indexOf(name string) (index uint64) {
	_, _ = fmt.Sscanf(name, "%x-%x.", new(uint64), &index) // etcd ignores files with other names, too.
	return index
}

// removeSegments removes the segments whose entries are all older than the newest snapshot.
func (s snapshots) removeSegments() error {
	newest := s.newest()
	// etcd makes a snapshot, with its record, between two entries.
	if newest <= s.first || s.server.AppliedIndex() <= newest {
		return nil
	}
	segments, _ := fs.Glob(os.DirFS(s.log), "*.wal") // The pattern is well-formed.
	slices.Sort(segments)
	for i := range len(segments) - keptSegments {
		if indexOf(segments[i+1]) > newest {
			return nil
		}
		if err := os.Remove(filepath.Join(s.log, segments[i])); err != nil {
			return err
		}
	}
	return nil
}

// isLeftOut reports whether a message of etcd says that there was no room for the file of a snapshot. Then the log is kept since the
// snapshot before.
func isLeftOut(message string, fields []zapcore.Field) bool {
	if message != "failed to save snapshot" {
		return false
	}
	for _, f := range fields {
		err, _ := f.Interface.(error)
		var of *fs.PathError
		if errors.As(err, &of) && strings.HasSuffix(of.Path, ".snap") && filesystem.IsFull(err) {
			_, err := os.Lstat(of.Path)
			return errors.Is(err, fs.ErrNotExist) // etcd removes a file that is not whole.
		}
	}
	return false
}
