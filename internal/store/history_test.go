package store_test

import (
	"fmt"
	"math/rand/v2"
	runtimes "runtime"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"

	"github.com/stint-dev/stint/internal/store"
	"github.com/stint-dev/stint/test/await"
)

// changeAtRandom makes ConfigMaps whose names begin with those of others, rewrites them, and deletes them.
func changeAtRandom(t *testing.T, maps *store.Storage, n int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	exists := map[string]bool{}
	for range n {
		name := "r" + strings.Repeat("1", 1+random.IntN(4))
		key := "/configmaps/" + name
		label := map[string]string{"color": []string{"red", "blue"}[random.IntN(2)]}
		data := map[string]string{"a": strings.Repeat("x", random.IntN(6<<10))}
		var err error
		switch {
		case !exists[name]:
			exists[name] = true
			created := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: label}, Data: data}
			err = maps.Direct.Create(t.Context(), key, created, nil, 0)
		case random.IntN(4) == 0:
			exists[name] = false
			err = maps.Direct.Delete(t.Context(), key, &corev1.ConfigMap{}, nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
		default:
			err = update(t, maps, name, &corev1.ConfigMap{}, func(cm *corev1.ConfigMap) { cm.Labels, cm.Data = label, data })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// read returns the events of a watch up to a version, in words.
func read(t *testing.T, s storage.Interface, key string, opts storage.ListOptions, last string) (read []string) {
	t.Helper()
	w, err := s.Watch(t.Context(), key, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for {
		e := await.Value(t, "an event", w.ResultChan())
		m, err := meta.Accessor(e.Object)
		if err != nil {
			t.Fatalf("%s of %v", e.Type, e.Object)
		}
		if m.GetResourceVersion() == last {
			return read
		}
		size := 0
		for _, v := range e.Object.(*corev1.ConfigMap).Data {
			size = len(v)
		}
		read = append(read, fmt.Sprint(e.Type, m.GetName(), m.GetResourceVersion(), m.GetLabels(), size))
	}
}

func TestAClientThatIsBehindGetsTheEventsOfEtcd(t *testing.T) {
	s := open(t, t.TempDir())
	maps, etcd := configMaps(t, s), storageOf(t, s, true)
	first := createMap(t, maps, 0, 0)
	changeAtRandom(t, maps, 1500)
	for i := 1; i <= events/2; i++ {
		createMap(t, maps, i, 1<<10) // so that the cache has dropped what was before
	}
	red, err := labels.Parse("color=red")
	if err != nil {
		t.Fatal(err)
	}
	selecting := func(l labels.Selector, f fields.Selector) storage.SelectionPredicate {
		p := storage.Everything
		p.Label, p.Field = l, f
		p.GetAttrs = func(obj runtime.Object) (labels.Set, fields.Set, error) {
			m, err := meta.Accessor(obj)
			return m.GetLabels(), fields.Set{"metadata.name": m.GetName()}, err
		}
		return p
	}
	for what, c := range map[string]struct {
		key       string
		recursive bool
		predicate storage.SelectionPredicate
	}{
		"all":          {"/configmaps/", true, storage.Everything},
		"with a label": {"/configmaps/", true, selecting(red, fields.Everything())},
		"with a name":  {"/configmaps/", true, selecting(labels.Everything(), fields.OneTermEqualSelector("metadata.name", "r11"))},
		"one key":      {"/configmaps/r11", false, storage.Everything},
		"one red key":  {"/configmaps/r11", false, selecting(red, fields.Everything())},
	} {
		opts := storage.ListOptions{ResourceVersion: first, Recursive: c.recursive, Predicate: c.predicate}
		last := redden(t, maps, "r11")
		want, got := read(t, etcd.Cached, c.key, opts, last), read(t, maps.Cached, c.key, opts, last)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// redden writes a ConfigMap that all watches of the test select, and returns its version.
func redden(t *testing.T, maps *store.Storage, name string) (version string) {
	t.Helper()
	out := &corev1.ConfigMap{}
	if err := update(t, maps, name, out, func(cm *corev1.ConfigMap) {
		cm.Name, cm.Labels, cm.Data = name, map[string]string{"color": "red"}, map[string]string{"a": cm.Data["a"] + "x"}
	}); err != nil {
		t.Fatal(err)
	}
	return out.ResourceVersion
}

// update changes a ConfigMap, or an empty one if it does not exist.
func update(t *testing.T, maps *store.Storage, name string, out *corev1.ConfigMap, change func(*corev1.ConfigMap)) error {
	t.Helper()
	return maps.Direct.GuaranteedUpdate(t.Context(), "/configmaps/"+name, out, true, nil, storage.SimpleUpdate(func(obj runtime.Object) (runtime.Object, error) {
		changed := obj.(*corev1.ConfigMap).DeepCopy()
		change(changed)
		return changed, nil
	}), nil)
}

// A page of what a client has missed is all that it costs, even if it never reads.
func TestAClientThatIsBehindCostsAPage(t *testing.T) {
	maps := configMaps(t, open(t, t.TempDir()))
	first := createMap(t, maps, 0, 0)
	for i := 1; i <= events; i++ {
		createMap(t, maps, i, 4<<10)
	}
	const clients, each = 50, 512 << 10
	before := heap()
	for range clients {
		w := watchAfter(t, maps, first)
		await.Value(t, "an event", w.ResultChan())
	}
	if grown := heap() - before; grown > clients*each {
		t.Errorf("a client that is %d KiB behind costs %d KiB", events*4, grown/clients>>10)
	}
}

func heap() int {
	runtimes.GC()
	var m runtimes.MemStats
	runtimes.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
