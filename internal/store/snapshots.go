package store

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver"
)

const (
	// snapshotEntries is after how many entries of its log etcd makes a snapshot.
	snapshotEntries = 5000
	// nearEntries is how many entries before a snapshot it is near: more than are written at the same time.
	nearEntries = 1200
	// lastEntries are left when the way is made free for a snapshot. Writes that no headroom knows of, such as those of a start, are fewer.
	lastEntries = 32
)

// snapshots knows when etcd makes its next snapshot. That is a small file, for which etcd needs space at that moment.
type snapshots struct {
	dir    string
	server *etcdserver.EtcdServer
	// last is the index of the entry of the last snapshot, or of an older one.
	last atomic.Uint64
}

// left returns how many entries are left until the next snapshot; none if it has been made since the last reload.
func (s *snapshots) left() int {
	due := s.last.Load() + snapshotEntries
	return int(due - min(s.server.AppliedIndex(), due))
}

// reload reads the index of the last snapshot, which is in the name of its file.
func (s *snapshots) reload() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name, isSnapshot := strings.CutSuffix(e.Name(), ".snap")
		_, index, _ := strings.Cut(name, "-")
		if n, err := strconv.ParseUint(index, 16, 64); isSnapshot && err == nil {
			s.last.Store(max(s.last.Load(), n))
		}
	}
}

// isNear reports whether the next snapshot is near.
func (s *snapshots) isNear() bool {
	if s.left() == 0 {
		s.reload()
	}
	return s.left() <= nearEntries
}

// write applies so many entries that change nothing.
func (s *snapshots) write(ctx context.Context, entries int) {
	var writers sync.WaitGroup
	for range entries {
		writers.Go(func() {
			// Revision 1 was compacted long ago, or is when nothing else is.
			_, _ = s.server.Compact(ctx, &etcdserverpb.CompactionRequest{Revision: 1})
		})
	}
	writers.Wait()
}
