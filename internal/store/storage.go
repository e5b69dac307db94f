package store

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/etcd3/metrics"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/tools/cache"
)

// keyPrefix is the prefix of every key in the database. It must never change.
const keyPrefix = "/registry"

// Kind describes one kind of object to its storage.
type Kind struct {
	Config *storagebackend.ConfigForResource
	// Prefix is the prefix of the keys of all objects of this kind, such as "/pods".
	Prefix   string
	Key      func(obj runtime.Object) (string, error)
	New      func() runtime.Object
	NewList  func() runtime.Object
	Attrs    storage.AttrFunc
	Triggers storage.IndexerFuncs
	Indexers *cache.Indexers
	// Uncached objects are not kept in memory: few read them, and there may be many.
	Uncached bool
}

// Storage stores the objects of one kind. Its two interfaces have the same data.
type Storage struct {
	// Cached answers lists and watches from memory, if the kind is cached.
	Cached storage.Interface
	// Direct bypasses the cache. A caller that has the newest version of an object passes it to a write, which then does
	// not read the object. It returns objects that may share memory with those of the cache: never change them.
	Direct storage.Interface
	// Close stops both. It may be called more than once.
	Close func()

	// feed is nil if the kind is not cached.
	feed     *feed
	client   *kubernetes.Client
	resource schema.GroupResource
}

// Storage returns the storage of one kind. The caller must close it before the Store.
func (s *Store) Storage(k Kind) (*Storage, error) {
	setFeatures()
	direct, err := s.storage(k, k.Config.Codec, s.client)
	if err != nil {
		return nil, err
	}
	if k.Uncached {
		return &Storage{Cached: direct, Direct: direct, Close: func() {}, client: s.client, resource: k.Config.GroupResource}, nil
	}
	shared, err := s.storage(k, newSharingCodec(k.Config.Codec), s.clientOfCache())
	if err != nil {
		return nil, err
	}
	feed := newFeed(shared, k.Config.GroupResource.Resource)
	c, err := cacher.NewCacherFromConfig(cacher.Config{
		Storage:             feed,
		Versioner:           shared.Versioner(),
		GroupResource:       k.Config.GroupResource,
		EventsHistoryWindow: storagebackend.DefaultEventsHistoryWindow,
		ResourcePrefix:      k.Prefix,
		KeyFunc:             k.Key,
		NewFunc:             k.New,
		NewListFunc:         k.NewList,
		GetAttrsFunc:        k.Attrs,
		IndexerFuncs:        k.Triggers,
		Indexers:            k.Indexers,
		Codec:               k.Config.Codec,
	})
	if err != nil {
		return nil, err
	}
	delegator := cacher.NewCacheDelegator(c, direct)
	s.feeds.add(feed)
	closeAll := sync.OnceFunc(func() {
		s.feeds.remove(feed)
		delegator.Stop()
		stop(c)
	})
	return &Storage{Cached: &cached{delegator, s.history(k)}, Direct: shared, Close: closeAll, feed: feed, client: s.client, resource: k.Config.GroupResource}, nil
}

// clientOfCache returns a client for a watch cache, which alone can ask how far its watch is.
func (s *Store) clientOfCache() *kubernetes.Client {
	c := clientv3.NewCtxClient(s.client.Ctx())
	c.KV, c.Lease = s.client.KV, s.client.Lease
	c.Watcher = newWatcher(s.etcd.Server.KV(), s.readers, true)
	return &kubernetes.Client{Client: c, Kubernetes: s.client.Kubernetes}
}

func (s *Store) history(k Kind) *history {
	return &history{readers: s.readers, kv: s.etcd.Server.KV(), backend: s.etcd.Server.Backend(), codec: k.Config.Codec, new: k.New}
}

// storage returns the storage of one kind without a cache. It has nothing to close.
func (s *Store) storage(k Kind, codec runtime.Codec, client *kubernetes.Client) (storage.Interface, error) {
	versioner := storage.APIObjectVersioner{}
	return etcd3.New(client, s.maintenance, codec, k.New, k.NewList, keyPrefix, k.Prefix,
		k.Config.GroupResource, identity.NewEncryptCheckTransformer(), etcd3.NewDefaultLeaseManagerConfig(),
		etcd3.NewDefaultDecoder(codec, versioner), versioner)
}

// DeleteVersion deletes the object of a key if its version is that one. It decodes nothing.
func (s *Storage) DeleteVersion(ctx context.Context, key string, version int64) error {
	start := time.Now()
	deleted, err := s.client.Kubernetes.OptimisticDelete(ctx, keyPrefix+key, version, kubernetes.DeleteOptions{GetOnFailure: true})
	metrics.RecordEtcdRequest("delete", s.resource, err, start)
	switch {
	case err != nil:
		return err
	case deleted.Succeeded:
		return nil
	case deleted.KV == nil:
		return storage.NewKeyNotFoundError(key, 0)
	default:
		return storage.NewResourceVersionConflictsError(key, deleted.KV.ModRevision)
	}
}

// stopTimeout is the timeout for stopping a cache.
const stopTimeout = 2 * time.Second

// stop stops a cache, but does not wait for it longer than stopTimeout. The library's Stop waits for the goroutines that
// fill the queue of watch events. If the queue is full at that moment, they block forever, because it is no longer read.
func stop(c interface{ Stop() }) {
	stopped := make(chan struct{})
	go func() {
		c.Stop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(stopTimeout):
	}
}
