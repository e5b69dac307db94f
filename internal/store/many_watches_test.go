package store_test

import (
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"

	"github.com/stint-dev/stint/internal/store"
	"github.com/stint-dev/stint/test/await"
)

// etcd's client has one stream for all watches, with goroutines on both sides that wait for each other when many watches begin and
// end at once.
func TestManyWatchesThatAreBehindDoNotStopTheWatchCache(t *testing.T) {
	maps := configMaps(t, open(t, t.TempDir()))
	first := createMap(t, maps, 0, 0)
	for i := 1; i <= 300; i++ {
		createMap(t, maps, i, 4<<10)
	}
	informed := informer(t, maps)
	created := 301
	for range 10 {
		var clients sync.WaitGroup
		for range 200 {
			clients.Go(func() {
				w, err := maps.Cached.Watch(t.Context(), "/configmaps/", storage.ListOptions{ResourceVersion: first, Recursive: true, Predicate: storage.Everything})
				if err != nil {
					t.Error(err)
					return
				}
				defer w.Stop()
				select {
				case <-w.ResultChan():
				case <-t.Context().Done():
				}
			})
		}
		for range 100 {
			createMap(t, maps, created, 0)
			created++
		}
		done := make(chan struct{})
		go func() {
			clients.Wait()
			close(done)
		}()
		await.Value(t, "events for all clients", done)
	}
	for seen := 301; seen < created; {
		if e := await.Value(t, "an event", informed.ResultChan()); e.Type == watch.Added {
			seen++
		}
	}
}

// informer returns a watch of all later events, as informers in the process have it.
func informer(t *testing.T, maps *store.Storage) watch.Interface {
	t.Helper()
	events, version := maps.Subscribe()
	w, err := events.Watch(t.Context(), version, func(obj runtime.Object) bool { _, isMap := obj.(*corev1.ConfigMap); return isMap })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}
