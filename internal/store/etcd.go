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
	// segmentBytes is the preallocated size of a log segment, of which there are two or more. etcd's default of 64 MB is
	// meant for servers.
	segmentBytes = 8 << 20
	// startTimeout is far longer than it takes to read a store of DefaultQuota from the slow disk of a busy
	// machine. If a file cannot be read, the start fails without this delay.
	startTimeout = 10 * time.Minute
	// startNoticeDelay is the time after which a warning says that the start still waits for the store.
	startNoticeDelay = 10 * time.Second
	// memberName is stored in the database, so it must never change.
	memberName = "stint"
)

var errStillStarting = errors.New("etcd was not ready")

var setSegmentSize = sync.OnceFunc(func() { wal.SegmentSizeBytes = segmentBytes })

// startEtcd starts an etcd cluster with one member that listens on no port.
//
// A single member elects itself, so short ticks only make the start faster. etcd opens its files in its own goroutines
// and would end the process if it cannot read them. log.failed has the reason instead, so wait for it and for the result.
//
// The start cannot be interrupted. If ctx ends first, startEtcd returns errStillStarting, closes etcd as soon as it has
// started, and calls closed.
func startEtcd(ctx context.Context, dir string, log *etcdLog, closed func()) (*embed.Etcd, error) {
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
	if errors.Is(err, errStillStarting) {
		go func() {
			if r := <-started; r.err == nil {
				r.etcd.Close()
			}
			closed()
		}()
	}
	if errors.Is(err, wal.ErrCRCMismatch) {
		return nil, damaged(filepath.Join(dir, "member", "wal"), err, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (details in %s)", err, logPath(dir))
	}
	return etcd, nil
}

// result is the result of starting etcd.
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
	cfg.QuotaBackendBytes = -1 // The store has its own: see quota.
	// kube-apiserver's limit on the size of a request, so that every object which the API server accepts can be stored.
	cfg.MaxRequestBytes = 3 << 20
	cfg.MaxTxnOps = 256
	cfg.EnableGRPCGateway = false
	// There are no other members, so no follower needs old log entries: in memory etcd keeps the last 100 or so, and in
	// files those since the last snapshot.
	cfg.SnapshotCatchUpEntries = 1
	cfg.SnapshotCount = snapshotEntries
	cfg.MaxWalFiles = 0 // All: see snapshots.
	// Under load a slow fsync is normal and needs no warning.
	cfg.WarningApplyDuration = time.Second
	cfg.WarningUnaryRequestDuration = 5 * time.Second
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(log.Logger)
	return cfg
}
