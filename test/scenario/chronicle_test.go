package scenario_test

import (
	"context"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// chronicle keeps a history for every namespace of a column.
type chronicle struct {
	mu        sync.Mutex
	histories map[string]*history
}

func startChronicle(t *testing.T, api kubernetes.Interface) *chronicle {
	c := &chronicle{histories: map[string]*history{}}
	batch, core := api.BatchV1().RESTClient(), api.CoreV1().RESTClient()
	c.follow(t, batch, "jobs", &batchv1.Job{})
	c.follow(t, batch, "cronjobs", &batchv1.CronJob{})
	c.follow(t, core, "pods", &corev1.Pod{})
	c.follow(t, core, "events", &corev1.Event{})
	return c
}

// follow records every change of one kind of object, until the test ends.
func (c *chronicle) follow(t *testing.T, api cache.Getter, resource string, kind runtime.Object) {
	w := &witness{chronicle: c, listed: make(chan struct{})}
	// A restarted server is back at once. The default backoff would wait longer each time.
	again := &wait.Backoff{Duration: 10 * time.Millisecond}
	list := cache.NewListWatchFromClient(api, resource, metav1.NamespaceAll, fields.Everything())
	r := cache.NewReflectorWithOptions(resuming{list}, kind, w, cache.ReflectorOptions{Name: resource, Backoff: again})
	ctx, stop := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { r.RunWithContext(ctx) })
	t.Cleanup(func() { stop(); following.Wait() })
	<-w.listed
}

// resuming resumes a watch where it broke off. A server ends the watch of a slow reader, and a list instead would hide
// the writes in between.
type resuming struct{ *cache.ListWatch }

func (r resuming) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	return watchtools.NewRetryWatcherWithContext(ctx, o.ResourceVersion, r.ListWatch)
}

// IsWatchListSemanticsUnSupported makes the reflector begin with a list: a watch that began with one could not be
// resumed.
func (resuming) IsWatchListSemanticsUnSupported() bool { return true }

func (c *chronicle) of(namespace string) *history {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.histories[namespace] == nil {
		c.histories[namespace] = &history{newest: map[types.UID]metav1.Object{}, changed: make(chan struct{})}
	}
	return c.histories[namespace]
}

// interrupt marks the histories so far: they may miss writes.
func (c *chronicle) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.histories {
		h.mu.Lock()
		h.gaps = true
		h.mu.Unlock()
	}
}

// witness records the changes that a watch shows of one kind. It is a cache.ReflectorStore.
type witness struct {
	chronicle *chronicle
	known     map[types.UID]metav1.Object // nil before the first list
	listed    chan struct{}
	once      sync.Once
}

func (w *witness) Add(obj any) error {
	o := obj.(metav1.Object)
	w.known[o.GetUID()] = o
	w.chronicle.of(o.GetNamespace()).add(change{object: o})
	return nil
}

func (w *witness) Update(obj any) error { return w.Add(obj) }

func (w *witness) Delete(obj any) error {
	o := obj.(metav1.Object)
	delete(w.known, o.GetUID())
	w.chronicle.of(o.GetNamespace()).add(change{object: o, deleted: true})
	return nil
}

// Replace records a list. An object that is not on it any more was deleted while there was no watch.
func (w *witness) Replace(list []any, _ string) error {
	defer w.once.Do(func() { close(w.listed) })
	if w.known == nil {
		w.known = map[types.UID]metav1.Object{}
	} else {
		w.chronicle.interrupt()
	}
	there := map[types.UID]bool{}
	for _, obj := range list {
		there[obj.(metav1.Object).GetUID()] = true
	}
	for uid, o := range w.known {
		if !there[uid] {
			_ = w.Delete(o)
		}
	}
	for _, obj := range list {
		_ = w.Add(obj)
	}
	return nil
}

func (w *witness) Resync() error { return nil }
