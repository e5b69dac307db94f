package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

const (
	// segmentBytes is the size that a segment of the log is given in advance; etcd's own 64 MB suit servers.
	segmentBytes = 16 << 20
	// quotaBytes bounds the database. etcd refuses writes beyond it until upkeep has made room.
	quotaBytes = 8 << 30
	// startTimeout is far beyond what reading the largest store takes, quotaBytes from a slow disk of a busy machine. What
	// cannot be read is known at once.
	startTimeout = 10 * time.Minute
	// memberName is written into the store; it must never change.
	memberName = "stint"
)

var setSegmentSize = sync.OnceFunc(func() { wal.SegmentSizeBytes = segmentBytes })

// startEtcd starts a cluster of one that listens nowhere.
//
// A single member elects itself, so the short ticks only shorten the start. etcd opens its files in goroutines of
// its own and ends the process when it cannot read them, so its last words are listened for beside its result.
func startEtcd(dir string, log *etcdLog) (*embed.Etcd, error) {
	setSegmentSize()
	type result struct {
		etcd *embed.Etcd
		err  error
	}
	started := make(chan result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				log.failed <- fmt.Errorf("%v", r)
			}
		}()
		etcd, err := embed.StartEtcd(config(dir, log))
		if err == nil {
			<-etcd.Server.ReadyNotify()
		}
		started <- result{etcd, err}
	}()
	details := filepath.Join(dir, "etcd.log")
	select {
	case r := <-started:
		if errors.Is(r.err, wal.ErrCRCMismatch) {
			return nil, damaged(filepath.Join(dir, "member", "wal"), r.err, dir)
		}
		if r.err != nil {
			return nil, fmt.Errorf("%w (details in %s)", r.err, details)
		}
		return r.etcd, nil
	case err := <-log.failed:
		if isLack(err) {
			return nil, fmt.Errorf("it cannot be read and was left as it is: %w", err)
		}
		return nil, fmt.Errorf("it cannot be read and was left as it is: %w; restore %s from a backup, or move it away to start empty", err, dir)
	case <-time.After(startTimeout):
		return nil, fmt.Errorf("etcd was not ready after %s (details in %s)", startTimeout, details)
	}
}

func config(dir string, log *etcdLog) *embed.Config {
	cfg := embed.NewConfig()
	cfg.Name = memberName
	cfg.Dir = dir
	cfg.InitialCluster = cfg.InitialClusterFromName(memberName)
	cfg.InitialClusterToken = memberName
	cfg.ListenPeerUrls, cfg.ListenClientUrls = nil, nil
	cfg.TickMs, cfg.ElectionMs = 10, 100
	cfg.QuotaBackendBytes = quotaBytes
	// As kube-apiserver's own limit on a request: an object near it must fit.
	cfg.MaxRequestBytes = 3 << 20
	cfg.MaxTxnOps = 256
	cfg.EnableGRPCGateway = false
	// Nothing is ever replicated, so there is no follower to keep log entries for.
	cfg.SnapshotCatchUpEntries = 1000
	// Under load one slow fsync is no news.
	cfg.WarningApplyDuration = time.Second
	cfg.WarningUnaryRequestDuration = 5 * time.Second
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(log.Logger)
	return cfg
}
