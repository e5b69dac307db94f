package namespace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/stint-dev/stint/internal/client"
)

const (
	// workers is how many namespaces are emptied at once, deletions how many objects in each.
	workers, deletions = 2, 16
	// A namespace that is not empty is requeued with a delay between these.
	minRecheck, maxRecheck = 20 * time.Millisecond, time.Second
)

// ContentDeleter deletes the contents of the terminating namespaces of one API server.
type ContentDeleter struct {
	namespaces client.Resource[*corev1.Namespace]
	kinds      []kind
	queue      workqueue.TypedRateLimitingInterface[string]
	clock      clock.PassiveClock
	// watchErr is why New could not watch namespaces; Run returns it.
	watchErr error
}

// kind is one kind of object that a namespace can hold.
type kind struct {
	client.Kind
	resource schema.GroupResource
}

// New watches the namespaces of c. The informers may be started after it returns.
func New(c client.Interface) *ContentDeleter {
	p := &ContentDeleter{
		namespaces: c.Namespaces(),
		clock:      clock.RealClock{},
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](minRecheck, maxRecheck),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "namespace"}),
	}
	for _, k := range c.Kinds() {
		if k.Namespaced {
			k.Informer() // An informer is started only if a controller has asked for it.
			plural, _ := meta.UnsafeGuessKindToResource(k.GroupVersionKind)
			p.kinds = append(p.kinds, kind{Kind: k, resource: plural.GroupResource()})
		}
	}
	_, p.watchErr = p.namespaces.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    p.enqueue,
		UpdateFunc: func(_, now any) { p.enqueue(now) },
	})
	return p
}

func (p *ContentDeleter) enqueue(obj any) {
	if ns, ok := obj.(*corev1.Namespace); ok && isTerminating(ns) {
		p.queue.Add(ns.Name)
	}
}

// Run deletes contents until ctx ends.
func (p *ContentDeleter) Run(ctx context.Context) error {
	if p.watchErr != nil {
		return fmt.Errorf("watch namespaces: %w", p.watchErr)
	}
	synced := []cache.DoneChecker{p.namespaces.Informer().HasSyncedChecker()}
	for _, k := range p.kinds {
		synced = append(synced, k.Informer().HasSyncedChecker())
	}
	if !cache.WaitFor(ctx, "", synced...) {
		p.queue.ShutDown()
		return nil
	}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for p.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	p.queue.ShutDown()
	running.Wait()
	return nil
}

func (p *ContentDeleter) next(ctx context.Context) bool {
	name, stop := p.queue.Get()
	if stop {
		return false
	}
	defer p.queue.Done(name)
	done, err := p.deleteContents(ctx, name)
	if ctx.Err() != nil {
		return false
	}
	if err != nil && !apierrors.IsConflict(err) {
		klog.FromContext(ctx).Error(err, "Emptying a namespace is retried", "namespace", name)
	}
	if err != nil || !done {
		p.queue.AddRateLimited(name)
		return true
	}
	p.queue.Forget(name)
	return true
}

// deleteContents is one sync of a namespace. It returns done if nothing is left to do.
func (p *ContentDeleter) deleteContents(ctx context.Context, name string) (done bool, err error) {
	ns, err := p.namespaces.Get(ctx, "", name)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read namespace %s: %w", name, err)
	}
	if !isTerminating(ns) {
		return true, nil
	}
	contents, err := p.contents(ctx, name)
	if err != nil {
		return false, err
	}
	d := Decide(contents)
	stuck, failures := p.deleteAll(ctx, d.Delete)
	if !d.Empty || !isLastFinalizer(ns) {
		conditions := Conditions(append(d.Waiting, stuck...), failures)
		if ns, err = p.report(ctx, ns, conditions); err != nil {
			return false, errors.Join(err, errors.Join(failures...))
		}
	}
	if !d.Empty {
		return false, errors.Join(failures...)
	}
	if _, err := p.namespaces.Modify(ctx, ns, finalize); err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("finalize namespace %s: %w", name, err)
	}
	return true, nil
}

// contents returns the cached objects of a namespace, or, once there are none, those of a live list: an object that is not
// cached yet would otherwise stay for ever.
func (p *ContentDeleter) contents(ctx context.Context, namespace string) ([]Content[client.Object], error) {
	cached, err := p.gather(func(k kind) ([]client.Object, error) { return inCache(k, namespace) })
	if err != nil || len(cached) > 0 {
		return cached, err
	}
	return p.gather(func(k kind) (stored []client.Object, err error) {
		_, err = k.List(ctx, namespace, labels.Everything(), func(obj client.Object) { stored = append(stored, obj) })
		return stored, err
	})
}

func (p *ContentDeleter) gather(list func(kind) ([]client.Object, error)) ([]Content[client.Object], error) {
	var all []Content[client.Object]
	for _, k := range p.kinds {
		objects, err := list(k)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", k.GroupVersionKind, err)
		}
		if len(objects) > 0 {
			all = append(all, Content[client.Object]{Resource: k.resource, Objects: objects})
		}
	}
	return all, nil
}

func inCache(k kind, namespace string) ([]client.Object, error) {
	found, err := k.Informer().GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
	if err != nil {
		return nil, err
	}
	objects := make([]client.Object, 0, len(found))
	for _, f := range found {
		if obj, ok := f.(client.Object); ok {
			objects = append(objects, obj)
		}
	}
	return objects, nil
}

func (p *ContentDeleter) report(ctx context.Context, ns *corev1.Namespace, conditions []corev1.NamespaceCondition) (*corev1.Namespace, error) {
	now := metav1.NewTime(p.clock.Now())
	if _, changed := merge(ns.Status.Conditions, conditions, now); !changed {
		return ns, nil
	}
	ns, err := p.namespaces.ModifyStatus(ctx, ns, func(n *corev1.Namespace) {
		n.Status.Conditions, _ = merge(n.Status.Conditions, conditions, now)
	})
	if err != nil {
		return nil, fmt.Errorf("write conditions of the namespace: %w", err)
	}
	return ns, nil
}
