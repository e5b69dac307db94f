package store_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"

	"github.com/stint-dev/stint/internal/store"
)

// log has the resource versions of the ConfigMaps that were created, oldest first.
type log struct {
	mu       sync.Mutex
	versions []int
}

func (l *log) add(t *testing.T, maps *store.Storage, i int) {
	t.Helper()
	version, err := strconv.Atoi(createMap(t, maps, i, 1500))
	if err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.versions = append(l.versions, version)
}

// after returns the version that follows, 0 if there is none yet.
func (l *log) after(version int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.versions {
		if v > version {
			return v
		}
	}
	return 0
}

// back returns the version of so many ConfigMaps ago.
func (l *log) back(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.versions[max(0, len(l.versions)-1-n)]
}

// A bookmark says that there are no older events to come. Clients that watch again after it would miss them.
func TestNoBookmarkComesBeforeAnOlderEvent(t *testing.T) {
	maps := configMaps(t, open(t, t.TempDir()))
	created := &log{}
	created.add(t, maps, 0)
	ctx, cancel := context.WithCancel(t.Context())
	var others sync.WaitGroup
	others.Go(func() {
		for ctx.Err() == nil {
			_ = maps.Direct.RequestWatchProgress(ctx)
		}
	})
	for watcher := range 4 {
		others.Go(func() {
			for round := 0; ctx.Err() == nil; round++ {
				readSome(ctx, t, maps, created, created.back(50*((round+watcher)%7)))
			}
		})
	}
	for i := range 1000 {
		created.add(t, maps, i+1)
	}
	cancel()
	others.Wait()
}

// readSome watches from a version on and checks that nothing is left out.
func readSome(ctx context.Context, t *testing.T, maps *store.Storage, created *log, seen int) {
	everything := storage.Everything
	everything.AllowWatchBookmarks = true
	w, err := maps.Cached.Watch(ctx, "/configmaps/", storage.ListOptions{
		ResourceVersion: strconv.Itoa(seen), Recursive: true, Predicate: everything,
	})
	if err != nil {
		if ctx.Err() == nil {
			t.Error(err)
		}
		return
	}
	defer w.Stop()
	for range 200 {
		select {
		case <-ctx.Done():
			return
		case e := <-w.ResultChan():
			m, err := meta.Accessor(e.Object)
			if err != nil {
				return // the watch has ended
			}
			version, _ := strconv.Atoi(m.GetResourceVersion())
			next := created.after(seen)
			if e.Type == watch.Bookmark && next != 0 && next <= version || e.Type == watch.Added && next != 0 && next < version {
				t.Errorf("%s of version %d came before version %d", e.Type, version, next)
				return
			}
			seen = version
		}
	}
}
