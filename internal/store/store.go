// Package store stores all API objects in an etcd server inside this process, which is called directly, without a socket.
//
// Open takes the lock of the data directory, checks the directory and its files, starts etcd, and starts the maintenance
// that etcd leaves to an operator (compaction, defragmentation) and the quota. Store.Storage makes the API
// server's storage for one kind of object.
//
//	data directory
//	├── lock    locked by the process that has the store open; contains its process ID
//	├── server.lock   the same of stint server, which is there before it has the store
//	└── etcd/   etcd's own files
//	    ├── etcd.log   warnings of the last run
//	    ├── first-start   exists until the store has been ready once
//	    ├── member/    log and database
//	    └── spare/     disk space for the time when the disk is full
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"k8s.io/apiserver/pkg/storage/etcd3"
)

// Store is an open data directory.
type Store struct {
	dir      string
	quota    int64
	readOnly bool
	// scratch is the directory of a copy; empty if the store is opened in its place.
	scratch     string
	lock        *lock
	headroom    *headroom
	log         *etcdLog
	etcd        *embed.Etcd
	client      *kubernetes.Client
	readers     *readers
	feeds       *feeds
	maintenance *maintenance

	closeOnce sync.Once
}

// Option is a setting of a Store.
type Option func(*Store)

// Quota limits the size of the store in bytes; 0 is DefaultQuota.
func Quota(bytes int64) Option { return func(s *Store) { s.quota = cmp.Or(bytes, DefaultQuota) } }

// ReadOnly opens a store that is only read. It needs no disk space: if the disk is full, a copy elsewhere is opened.
func ReadOnly(s *Store) { s.readOnly = true }

// Open opens the store in dir, and creates it if it does not exist. ctx limits only the start: the open store does not use
// it. The error is written for users: LockedError, or why the directory or its content cannot be used.
func Open(ctx context.Context, dir string, options ...Option) (*Store, error) {
	if err := checkLimits(); err != nil {
		return nil, err
	}
	etcdDir := filepath.Join(dir, "etcd")
	if err := os.MkdirAll(etcdDir, 0o700); err != nil {
		return nil, unusable(dir, err)
	}
	lock, err := takeLock(dir, lockName)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, lock: lock, quota: DefaultQuota}
	for _, set := range options {
		set(s)
	}
	if s.readOnly && !isRoomy(etcdDir, plentyBytes) {
		err = s.openCopy(ctx, etcdDir)
	}
	if s.etcd == nil {
		err = s.open(ctx, etcdDir)
	}
	if err != nil {
		// An etcd that is still starting has the files open: the lock is released when it is closed.
		if !errors.Is(err, errStillStarting) {
			lock.release()
		}
		return nil, err
	}
	return s, nil
}

// openCopy opens a copy of a store whose disk is full, as etcd frees space in its files when it opens them, which others may take.
func (s *Store) openCopy(ctx context.Context, etcdDir string) (err error) {
	if s.scratch, err = copyOf(etcdDir); err != nil {
		return err
	}
	if err := s.open(ctx, s.scratch); err != nil {
		return errors.Join(err, removeCopy(s.scratch))
	}
	return nil
}

func (s *Store) open(ctx context.Context, etcdDir string) error {
	if !s.readOnly {
		if err := checkUsable(etcdDir); err != nil {
			return err
		}
	}
	if err := clearUnfinishedStart(etcdDir); err != nil {
		return unusable(s.dir, err)
	}
	s.headroom = newHeadroom(etcdDir, s.readOnly)
	if err := s.headroom.open(); err != nil && !s.readOnly {
		return err
	}
	for _, check := range []func(string) error{checkLog, checkDatabase, checkAgreement} {
		if err := check(etcdDir); err != nil {
			return fmt.Errorf("open the store in %s: %w", s.dir, err)
		}
	}
	log, err := openLog(etcdDir)
	if err != nil {
		return unusable(s.dir, err)
	}
	var etcd *embed.Etcd
	s.headroom.keepSegments(func() { etcd, err = startEtcd(ctx, etcdDir, log, s.lock.release) })
	if err != nil {
		return fmt.Errorf("open the store in %s: %w", s.dir, err)
	}
	if err := endFirstStart(etcdDir); err != nil {
		etcd.Close()
		return unusable(s.dir, err)
	}
	s.log, s.etcd = log, etcd

	s.client = &kubernetes.Client{Client: v3client.New(etcd.Server)}
	s.readers, s.feeds = newReaders(), &feeds{}
	s.client.Watcher = newWatcher(etcd.Server.KV(), s.readers, false)
	s.client.KV = etcd3.NewETCDLatencyTracker(s.client.KV)
	s.headroom.start(kubernetes.Client{Client: s.client.Client}, etcd.Server.Backend())
	quota := &quota{s.headroom, s.quota, func() int64 { return etcd.Server.Backend().SizeInUse() }}
	s.client.Kubernetes = quota
	s.maintenance = newMaintenance(s, quota)
	s.maintenance.start()
	return nil
}

// Failed delivers the error that ended the open store, such as a full disk. After it nothing can be written, but all
// acknowledged writes are stored.
func (s *Store) Failed() <-chan error { return s.log.failed }

// Ready returns nil, or why lists and watches do not show what is stored.
func (s *Store) Ready() error { return s.feeds.stalled() }

// Client returns a client of etcd, for tests and for benchmarks that count revisions.
func (s *Store) Client() *clientv3.Client { return s.client.Client }

// Close stops etcd and releases the lock of the directory. Users of the store must be stopped before. A store that has failed cannot be
// stopped: it keeps its files, and the lock, until this process ends.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			s.close()
		}()
		select {
		case <-closed:
		case <-s.log.broken.Done():
		}
	})
	return nil
}

func (s *Store) close() {
	s.maintenance.stop()
	_ = s.maintenance.snapshots.removeSegments() // The next maintenance would have done it.
	_ = s.client.Close()
	s.readers.close()
	s.headroom.keepSegments(s.etcd.Close)
	_ = s.log.Close()
	if s.scratch != "" {
		_ = removeCopy(s.scratch)
	}
	s.lock.release()
}
