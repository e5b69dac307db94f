package store

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.uber.org/zap"
)

const (
	stepInterval = time.Second
	// pausedSteps are left out after a failed one. A disk that is full stays so for a while.
	pausedSteps = 60
)

// maintenance does the upkeep that etcd leaves to an operator: compaction and defragmentation, as upkeep decides. It also removes old
// segments of the log, and sees to it that the watch caches follow.
type maintenance struct {
	server    *etcdserver.EtcdServer
	client    *clientv3.Client
	quota     *quota
	headroom  *headroom
	snapshots snapshots
	feeds     *feeds
	log       *zap.Logger
	// upkeep and reported (that the store is full) belong to the goroutine that calls step.
	upkeep    upkeep
	reported  bool
	compacted atomic.Int64
	cancel    context.CancelFunc
	done      chan struct{}
}

func newMaintenance(s *Store, quota *quota) *maintenance {
	server := s.etcd.Server
	m := &maintenance{server: server, client: s.client.Client, quota: quota, headroom: s.headroom, snapshots: newSnapshots(s.headroom.dir, server),
		feeds: s.feeds, log: s.log.Logger, done: make(chan struct{})}
	m.upkeep.compacted = max(0, server.KV().FirstRev())
	m.compacted.Store(m.upkeep.compacted)
	return m
}

func (m *maintenance) start() {
	ctx, cancel := context.WithCancel(context.Background())
	m.cancel = cancel
	go m.run(ctx)
}

func (m *maintenance) stop() {
	m.cancel()
	<-m.done
}

// CompactRevision implements etcd3.Compactor.
func (m *maintenance) CompactRevision() int64 { return m.compacted.Load() }

func (m *maintenance) run(ctx context.Context) {
	defer close(m.done)
	next := time.NewTimer(stepInterval)
	defer next.Stop()
	for paused := 0; ; next.Reset(stepInterval) {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		m.feeds.step(ctx, m.server.KV().Rev())
		m.headroom.step()
		if paused > 0 {
			paused--
			continue
		}
		if err := m.step(ctx); err != nil && ctx.Err() == nil {
			paused = pausedSteps
			m.log.Warn("maintenance of the store failed; it will be retried", zap.Error(err))
		}
	}
}

func (m *maintenance) step(ctx context.Context) error {
	if err := m.snapshots.removeSegments(); err != nil {
		return fmt.Errorf("remove old segments of the log: %w", err)
	}
	now := m.usage()
	m.reportFull(now.used)
	plan := m.upkeep.step(now)
	if plan.commit {
		m.server.Backend().ForceCommit()
	}
	if plan.compactTo > 0 {
		if _, err := m.client.Compact(ctx, plan.compactTo); err != nil {
			return fmt.Errorf("compact to revision %d: %w", plan.compactTo, err)
		}
		m.compacted.Store(plan.compactTo)
	}
	if plan.defragment {
		return m.defragment()
	}
	return nil
}

func (m *maintenance) usage() usage {
	db := m.server.Backend()
	used := db.SizeInUse()
	return usage{revision: m.server.KV().Rev(), file: db.Size(), used: used,
		full: m.quota.full() || m.headroom.isShort(), cramped: !isRoomy(m.headroom.dir, used+plentyBytes)}
}

// defragment calls the etcd server. The client's method would end the process, because this etcd serves no gRPC.
func (m *maintenance) defragment() error {
	if err := m.server.Defragment(); err != nil {
		return fmt.Errorf("defragment the database: %w", err)
	}
	m.headroom.renew()
	debug.FreeOSMemory() // The copy has left up to a hundred megabytes of garbage, and a quiet server collects none for long.
	return nil
}

// reportFull logs when the store has become full, and when it has room again. History comes and goes, so a little room is
// no news.
func (m *maintenance) reportFull(used int64) {
	switch full := m.quota.full(); {
	case full && !m.reported:
		m.reported = true
		slog.Warn(m.quota.exceeded().Error() + "; until then no objects can be created")
	case m.reported && used < m.quota.bytes*3/4:
		m.reported = false
		slog.Info(fmt.Sprintf("the store has room again: it takes %d of %d MiB", used>>20, m.quota.bytes>>20))
	}
}
