package gc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	"github.com/stint-dev/stint/internal/client"
)

const (
	// workers bounds how many objects are deleted at once: enough for the store to write them in batches, few
	// enough to leave room for the Jobs that still run.
	workers = 12
	// A retry waits this long at first and at most.
	firstRetry, lastRetry = 5 * time.Millisecond, 30 * time.Second
)

// Collector is the garbage collector of one API server.
type Collector struct {
	kinds    []*kind
	owners   *owners
	recorder record.EventRecorder
	queue    workqueue.TypedRateLimitingInterface[item]
	// ready is true once the informers have synced. Before that, an owner may exist though it is not cached.
	ready atomic.Bool
	// waiting maps the UID of an owner that waits for its dependents to the UID of one of these.
	waiting sync.Map
	// watchErr is why New could not watch a kind; Run returns it.
	watchErr error
}

// Jobs are served in two groups; an owner reference may name either.
var (
	jobs    = batchv1.SchemeGroupVersion.WithKind("Job").GroupKind()
	oldJobs = v1beta1.SchemeGroupVersion.WithKind("Job").GroupKind()
)

// New watches all kinds of c. The informers may be started after it returns.
func New(c client.Interface, recorder record.EventRecorder) *Collector {
	gc := &Collector{
		owners:   newOwners(),
		recorder: recorder,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[item](firstRetry, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[item]{Name: "gc"}),
	}
	for _, served := range c.Kinds() {
		if ignored(served.GroupVersionKind) {
			continue
		}
		k := &kind{Kind: served, cache: served.Informer().GetIndexer()}
		gc.kinds = append(gc.kinds, k)
		gc.owners.kinds[served.GroupKind()] = k
		if served.GroupKind() == jobs {
			gc.owners.kinds[oldJobs] = k
		}
		gc.watchErr = errors.Join(gc.watchErr, gc.watch(k))
	}
	return gc
}

func (c *Collector) watch(k *kind) error {
	if err := k.Informer().AddIndexers(cache.Indexers{byOwner: ownerUIDs}); err != nil {
		return fmt.Errorf("index %s by owner: %w", k.Kind.Kind, err)
	}
	if _, err := k.Informer().AddEventHandler(c.handlers(k)); err != nil {
		return fmt.Errorf("watch %s: %w", k.Kind.Kind, err)
	}
	return nil
}

// ignored reports whether a kind is not watched: Events are many, and are never owners or dependents.
func ignored(gvk schema.GroupVersionKind) bool {
	return gvk.Kind == "Event"
}

// Run collects garbage until ctx ends.
func (c *Collector) Run(ctx context.Context) error {
	if c.watchErr != nil {
		return c.watchErr
	}
	synced := make([]cache.DoneChecker, 0, len(c.kinds))
	for _, k := range c.kinds {
		synced = append(synced, k.Informer().HasSyncedChecker())
	}
	if !cache.WaitFor(ctx, "", synced...) {
		c.queue.ShutDown()
		return nil
	}
	c.ready.Store(true)
	c.enqueueAll()

	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	c.queue.ShutDown()
	running.Wait()
	return nil
}

func (c *Collector) next(ctx context.Context) bool {
	i, stop := c.queue.Get()
	if stop {
		return false
	}
	defer c.queue.Done(i)
	again, err := c.examine(ctx, i)
	if ctx.Err() != nil {
		return false
	}
	if err != nil && !apierrors.IsConflict(err) {
		klog.FromContext(ctx).Error(err, "Garbage collection is retried", "object", i.String())
	}
	if again || err != nil {
		c.queue.AddRateLimited(i)
		return true
	}
	c.queue.Forget(i)
	return true
}

// examine syncs one object. It returns again to have the object requeued with backoff.
func (c *Collector) examine(ctx context.Context, i item) (again bool, err error) {
	obj, ok := i.kind.cached(i.namespace, i.name, i.uid)
	if !ok {
		return false, nil
	}
	c.waiting.Delete(i.uid)
	v := &view{Collector: c, ctx: ctx, item: i}
	o, blocker, err := observe(v, obj)
	if err != nil {
		return false, err
	}
	d := Decide(o)
	if o.State != Solid && d.Action == Nothing && blocker != "" {
		c.waiting.Store(i.uid, blocker)
	}
	if err := c.apply(ctx, i, obj, d); err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("collect %s: %w", i, err)
	}
	return v.notYetCached, nil
}

func (c *Collector) apply(ctx context.Context, i item, obj client.Object, d Decision) error {
	switch d.Action {
	case Nothing:
		return nil
	case Delete:
		return i.kind.Delete(ctx, obj, client.DeleteOptions{Propagation: d.Propagation, Unchanged: true})
	case Finalize:
		if d.Finalizer == metav1.FinalizerOrphanDependents {
			c.owners.orphaned.Add(i.uid, nil)
		}
	}
	_, err := i.kind.Modify(ctx, obj, func(o client.Object) { d.edit(o) })
	return err
}

// edit applies a decision that changes the object's metadata.
func (d Decision) edit(o metav1.Object) {
	named := func(ref metav1.OwnerReference) bool { return slices.Contains(d.Owners, ref.UID) }
	switch d.Action {
	case Release:
		o.SetOwnerReferences(slices.DeleteFunc(slices.Clone(o.GetOwnerReferences()), named))
	case Unblock:
		refs := slices.Clone(o.GetOwnerReferences())
		for i := range refs {
			if named(refs[i]) {
				refs[i].BlockOwnerDeletion = nil
			}
		}
		o.SetOwnerReferences(refs)
	case Finalize:
		o.SetFinalizers(slices.DeleteFunc(slices.Clone(o.GetFinalizers()),
			func(f string) bool { return f == d.Finalizer }))
	}
}

var _ ownerGraph = (*view)(nil)
