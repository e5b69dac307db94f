package store

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/client-go/tools/cache"
)

// keyPrefix is before every key. It must never change.
const keyPrefix = "/registry"

// Kind is what a storage must know about the objects it keeps.
type Kind struct {
	Config *storagebackend.ConfigForResource
	// Prefix is before the key of every object of this kind: "/pods".
	Prefix   string
	Key      func(obj runtime.Object) (string, error)
	New      func() runtime.Object
	NewList  func() runtime.Object
	Attrs    storage.AttrFunc
	Triggers storage.IndexerFuncs
	Indexers *cache.Indexers
}

// Storage is what Stint keeps one kind of object in, in two views of the same data.
type Storage struct {
	// Cached answers lists and watches from memory.
	Cached storage.Interface
	// Direct does without the memory: a writer who knows the newest version of an object hands it in and saves reading it.
	Direct storage.Interface
	// Close ends both. It may be called more than once.
	Close func()
}

// Storage makes the storage of one kind. It is to be closed before the Store.
func (s *Store) Storage(k Kind) (*Storage, error) {
	featureChecker()
	versioner := storage.APIObjectVersioner{}
	direct, err := etcd3.New(s.client, s.maintenance.compactor, k.Config.Codec, k.New, k.NewList, keyPrefix, k.Prefix,
		k.Config.GroupResource, identity.NewEncryptCheckTransformer(), etcd3.NewDefaultLeaseManagerConfig(),
		etcd3.NewDefaultDecoder(k.Config.Codec, versioner), versioner)
	if err != nil {
		return nil, err
	}
	c, err := cacher.NewCacherFromConfig(cacher.Config{
		Storage:             direct,
		Versioner:           versioner,
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
		direct.Close()
		return nil, err
	}
	delegator := cacher.NewCacheDelegator(c, direct)
	closeAll := sync.OnceFunc(func() {
		delegator.Stop()
		stop(c)
		direct.Close()
	})
	return &Storage{Cached: delegator, Direct: direct, Close: closeAll}, nil
}

// stopWithin is how long a cache may take to stop.
const stopWithin = 2 * time.Second

// stop leaves a cache behind that does not end. The library's waits for whoever fills its queue of events, and where that
// is full at the moment of the stop, nobody empties it any more.
func stop(c interface{ Stop() }) {
	stopped := make(chan struct{})
	go func() {
		c.Stop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(stopWithin):
	}
}
