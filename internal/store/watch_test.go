package store_test

import (
	"cmp"
	"context"
	"fmt"
	runtimes "runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher/metrics"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/metrics/testutil"

	"github.com/stint-dev/stint/internal/store"
	"github.com/stint-dev/stint/test/await"
)

// configMaps returns the storage of ConfigMaps.
func configMaps(t *testing.T, s *store.Store) *store.Storage {
	t.Helper()
	maps := storageOf(t, s, false)
	await.Until(t, "the cache is filled", func() bool { return maps.Cached.ReadinessCheck() == nil }, nil)
	return maps
}

func storageOf(t *testing.T, s *store.Store, uncached bool) *store.Storage {
	t.Helper()
	resource := schema.GroupResource{Resource: "configmaps"}
	v1 := corev1.SchemeGroupVersion
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	config := storagebackend.NewDefaultConfig("", scheme.Codecs.CodecForVersions(info.Serializer, scheme.Codecs.UniversalDeserializer(), v1, v1))
	maps, err := s.Storage(store.Kind{
		Config: config.ForResource(resource), Prefix: "/configmaps",
		Key: func(obj runtime.Object) (string, error) {
			m, err := meta.Accessor(obj)
			if err != nil {
				return "", err
			}
			return "/configmaps/" + m.GetName(), nil
		},
		New:     func() runtime.Object { return &corev1.ConfigMap{} },
		NewList: func() runtime.Object { return &corev1.ConfigMapList{} },
		Attrs: func(obj runtime.Object) (labels.Set, fields.Set, error) {
			m, err := meta.Accessor(obj)
			if err != nil {
				return nil, nil, err
			}
			return m.GetLabels(), fields.Set{"metadata.name": m.GetName()}, nil
		},
		Uncached: uncached,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(maps.Close)
	return maps
}

func createMap(t *testing.T, maps *store.Storage, i, size int) (version string) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%d", i)}, Data: map[string]string{"a": strings.Repeat("x", size)}}
	out := &corev1.ConfigMap{}
	if err := maps.Direct.Create(t.Context(), "/configmaps/"+cm.Name, cm, out, 0); err != nil {
		t.Fatal(err)
	}
	return out.ResourceVersion
}

func watchAfter(t *testing.T, maps *store.Storage, version string) watch.Interface {
	t.Helper()
	w, err := maps.Cached.Watch(t.Context(), "/configmaps/", storage.ListOptions{ResourceVersion: version, Recursive: true, Predicate: storage.Everything})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	return w
}

// capacity returns for how many events the watch cache of ConfigMaps has room.
func capacity(t *testing.T) float64 {
	t.Helper()
	n, err := testutil.GetGaugeMetricValue(metrics.WatchCacheCapacity.WithLabelValues("", "configmaps"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const events = 1000

func TestTheWatchCacheForgetsAndEtcdServesWhatItForgot(t *testing.T) {
	metrics.Register()
	maps := configMaps(t, open(t, t.TempDir()))
	first := createMap(t, maps, 0, 0)
	live := watchAfter(t, maps, first)
	for i := 1; i <= events; i++ {
		createMap(t, maps, i, 4<<10)
	}
	seen := func(w watch.Interface, from, to int) {
		t.Helper()
		for i := from; i <= to; i++ {
			e := await.Value(t, "an event", w.ResultChan())
			if m, err := meta.Accessor(e.Object); err != nil || m.GetName() != fmt.Sprintf("m%d", i) {
				t.Fatalf("event %d is %s of %v", i, e.Type, e.Object)
			}
		}
	}
	old := watchAfter(t, maps, first)
	seen(old, 1, events)
	// 4 MB of events are not kept for 75 seconds.
	if n := capacity(t); n == 0 || n > events/2 {
		t.Errorf("the watch cache has room for %.0f events of 4 KB", n)
	}
	createMap(t, maps, events+1, 0)
	createMap(t, maps, events+2, 0)
	seen(old, events+1, events+2)
	// The cache has closed the watch that was not read, but its client does not notice.
	seen(live, 1, events+2)
}

func TestAWatchOfAllObjectsEndsWithTheCache(t *testing.T) {
	maps := configMaps(t, open(t, t.TempDir()))
	createMap(t, maps, 0, 0)
	w := watchAfter(t, maps, "0")
	if e := await.Value(t, "the object that is there", w.ResultChan()); e.Type != watch.Added {
		t.Errorf("%s of %v, want ADDED", e.Type, e.Object)
	}
	maps.Close()
	for e := await.Value(t, "the end", w.ResultChan()); e.Type != ""; e = await.Value(t, "the end", w.ResultChan()) {
		if e.Type != watch.Bookmark && e.Type != watch.Error {
			t.Errorf("%s of %v came after the end", e.Type, e.Object)
		}
	}
}

func TestAVersionThatEtcdForgotIsExpired(t *testing.T) {
	s := open(t, t.TempDir())
	maps := configMaps(t, s)
	first := createMap(t, maps, 0, 0)
	for i := 1; i <= events/2; i++ {
		createMap(t, maps, i, 4<<10)
	}
	now, err := s.Client().Get(t.Context(), "/none")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Client().Compact(context.Background(), now.Header.Revision); err != nil {
		t.Fatal(err)
	}
	e := await.Value(t, "an event", watchAfter(t, maps, first).ResultChan())
	if err := apierrors.FromObject(e.Object); e.Type != watch.Error || !apierrors.IsResourceExpired(err) {
		t.Errorf("%s %v, want expired", e.Type, err)
	}
}

func TestASubscriptionEndsWithAnErrorWhenTheWatchCacheIsInterrupted(t *testing.T) {
	s := open(t, t.TempDir())
	maps := configMaps(t, s)
	events, version := maps.Subscribe()
	w, err := events.Watch(t.Context(), version, func(runtime.Object) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	maps.Close()
	if e := await.Value(t, "an event", w.ResultChan()); e.Type != watch.Error {
		t.Errorf("the first event is %s of %v, want an error", e.Type, e.Object)
	}
	if e := await.Value(t, "the end", w.ResultChan()); e.Type != "" {
		t.Errorf("%s came after the error", e.Type)
	}
}

func TestAWatchWithoutACacheGetsNoBookmarksThatItDoesNotWant(t *testing.T) {
	s := open(t, t.TempDir())
	cached, direct := configMaps(t, s), storageOf(t, s, true)
	w := watchAfter(t, direct, createMap(t, direct, 0, 0))
	// A write that is not an event of the cache makes a consistent list ask etcd for progress.
	if _, err := s.Client().Put(t.Context(), "/none", ""); err != nil {
		t.Fatal(err)
	}
	if err := cached.Cached.GetList(t.Context(), "/configmaps/", storage.ListOptions{Recursive: true, Predicate: storage.Everything}, &corev1.ConfigMapList{}); err != nil {
		t.Fatal(err)
	}
	createMap(t, direct, 1, 0)
	if e := await.Value(t, "an event", w.ResultChan()); e.Type != watch.Added {
		t.Errorf("%s of %v, want the object that was added", e.Type, e.Object)
	}
}

// cacheEvents is how many events a watch cache keeps at least.
const cacheEvents = 100

func TestAForgetfulWatchCacheKeepsNothingThatWasDeletedAndItsWatchesGoOn(t *testing.T) {
	s := open(t, t.TempDir())
	maps := configMaps(t, s)
	events, version := maps.Subscribe()
	informed, err := events.Watch(t.Context(), cmp.Or(version, "0"), func(obj runtime.Object) bool { _, isMap := obj.(*corev1.ConfigMap); return isMap })
	if err != nil {
		t.Fatal(err)
	}
	var old []weak.Pointer[corev1.ConfigMap]
	var last string
	for i := range 20 {
		last = createMap(t, maps, i, 1<<20)
	}
	for i := range 20 {
		if err := maps.Direct.Delete(t.Context(), fmt.Sprintf("/configmaps/m%d", i), &corev1.ConfigMap{}, nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for len(old) < 40 {
		if e := await.Value(t, "an event", informed.ResultChan()); e.Type == watch.Added || e.Type == watch.Deleted {
			old = append(old, weak.Make(e.Object.(*corev1.ConfigMap)))
		}
	}
	informed.Stop()
	for range 2 * cacheEvents {
		// Another kind is written, and the cache of this one is told how far it is.
		if _, err := s.Client().Put(t.Context(), "/none", ""); err != nil {
			t.Fatal(err)
		}
		if err := maps.Cached.GetList(t.Context(), "/configmaps/", storage.ListOptions{Recursive: true, Predicate: storage.Everything}, &corev1.ConfigMapList{}); err != nil {
			t.Fatal(err)
		}
	}
	maps.Forget()
	await.Until(t, "the deleted objects are garbage", func() bool {
		runtimes.GC()
		return !slices.ContainsFunc(old, func(p weak.Pointer[corev1.ConfigMap]) bool { return p.Value() != nil })
	}, nil)
	await.Until(t, "the cache is filled", func() bool { return maps.Cached.ReadinessCheck() == nil }, nil)
	w := watchAfter(t, maps, last)
	for i := range 20 {
		if e := await.Value(t, "an event", w.ResultChan()); e.Type != watch.Deleted {
			t.Errorf("event %d is %s, want a deletion", i, e.Type)
		}
	}
}
