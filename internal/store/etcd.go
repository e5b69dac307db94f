package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	// startNoticeDelay is when a user is told what a start waits for.
	startNoticeDelay = 10 * time.Second
	// memberName is written into the store; it must never change.
	memberName = "stint"
)

var errStillStarting = errors.New("etcd was not ready")

var setSegmentSize = sync.OnceFunc(func() { wal.SegmentSizeBytes = segmentBytes })

// startEtcd starts a cluster of one that listens nowhere.
//
// A single member elects itself, so the short ticks only shorten the start. etcd opens its files in goroutines of
// its own and ends the process when it cannot read them, so its last words are listened for beside its result.
func startEtcd(ctx context.Context, dir string, log *etcdLog) (*embed.Etcd, error) {
	setSegmentSize()
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
	etcd, err := awaitStart(ctx, dir, started, log.failed)
	if errors.Is(err, wal.ErrCRCMismatch) {
		return nil, damaged(filepath.Join(dir, "member", "wal"), err, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (details in %s)", err, logPath(dir))
	}
	return etcd, nil
}

// result is that of a start of etcd.
type result struct {
	etcd *embed.Etcd
	err  error
}

func awaitStart(ctx context.Context, dir string, started <-chan result, failed <-chan error) (*embed.Etcd, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("after %s", startTimeout))
	defer cancel()
	defer time.AfterFunc(startNoticeDelay, func() {
		slog.Warn(fmt.Sprintf("the store in %s is not ready after %s; waiting for it (details in %s)", dir, startNoticeDelay, logPath(dir)))
	}).Stop()
	select {
	case r := <-started:
		return r.etcd, r.err
	case err := <-failed:
		return nil, unreadable(err, dir)
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", errStillStarting, context.Cause(ctx))
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
