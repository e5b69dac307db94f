package simulated

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
)

// Process is one run of a controller, from its start until it stops or is killed. It also records the controller's
// events.
type Process struct {
	Number   int
	requests *requests
	feeds    []Feed

	// dead is set when the process was killed: it writes no more. leaving is set when it was told to stop: it ends once
	// its requests are answered.
	dead     atomic.Bool
	stopping bool
	cancel   context.CancelFunc
	stopped  chan error

	mu     sync.Mutex
	events []Event
}

// Event is an event that a process recorded.
type Event struct {
	Object          client.Object
	Type            string
	Reason, Message string
}

// Feeds are the informers of a process, in the order of the calls of Of.
func (p *Process) Feeds() []Feed { return p.feeds }

// Stopping reports whether the process was told to stop.
func (p *Process) Stopping() bool { return p.stopping }

// Events returns all that were recorded so far.
func (p *Process) Events() []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Event(nil), p.events...)
}

// Event implements record.EventRecorder.
func (p *Process) Event(object runtime.Object, kind, reason, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, Event{object.(client.Object), kind, reason, message})
}

// Eventf implements record.EventRecorder.
func (p *Process) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	p.Event(object, kind, reason, fmt.Sprintf(format, args...))
}

// AnnotatedEventf implements record.EventRecorder.
//
//nolint:revive // The interface is client-go's.
func (p *Process) AnnotatedEventf(object runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	p.Eventf(object, kind, reason, format, args...)
}

// resource is what one process sees of a table.
type resource[T client.Object] struct {
	process  *Process
	table    *Table[T]
	informer *Informer[T]
}

// Of returns the client through which a process uses a table.
func Of[T client.Object](p *Process, x *Table[T]) client.Resource[T] {
	r := &resource[T]{p, x, newInformer(x)}
	p.feeds = append(p.feeds, r.informer)
	return r
}

// InformerOf returns the informer of a client that Of returned.
func InformerOf[T client.Object](r client.Resource[T]) *Informer[T] { return r.(*resource[T]).informer }

func (r *resource[T]) Informer() cache.SharedIndexInformer { return r.informer }

func (r *resource[T]) Get(ctx context.Context, namespace, name string) (T, error) {
	return r.ask(ctx, "get", name, nil, func() (T, error) { return r.table.Get(namespace, name) })
}

func (r *resource[T]) List(ctx context.Context, namespace string, selector labels.Selector, each func(T)) (version string, err error) {
	q := r.request("list", namespace, nil)
	q.do = func() (client.Object, error) {
		version = r.table.text(r.table.server.version)
		for _, o := range r.table.All() {
			if o.GetNamespace() == namespace && selector.Matches(labels.Set(o.GetLabels())) {
				q.Found = append(q.Found, o)
			}
		}
		var none T
		return none, nil
	}
	if _, err := r.send(ctx, q); err != nil {
		return "", err
	}
	for _, o := range q.Found {
		each(o.(T))
	}
	return version, nil
}

func (r *resource[T]) Create(ctx context.Context, o T) (T, error) {
	return r.ask(ctx, "create", cmp.Or(o.GetName(), o.GetGenerateName()), o, func() (T, error) { return r.table.Create(o) })
}

func (r *resource[T]) UpdateStatus(ctx context.Context, o T) (T, error) {
	return r.ask(ctx, "update status of", o.GetName(), o, func() (T, error) { return r.table.UpdateStatus(o) })
}

func (r *resource[T]) Modify(ctx context.Context, observed T, change func(T)) (T, error) {
	return r.ask(ctx, "modify", observed.GetName(), observed, func() (T, error) {
		if err := r.same(observed); err != nil {
			return observed, err
		}
		return r.table.Update(observed.GetNamespace(), observed.GetName(), merged(change))
	})
}

// merged returns a change as a patch makes it: entries of these lists have keys, and no key is there twice.
func merged[T client.Object](change func(T)) func(T) {
	return func(o T) {
		change(o)
		o.SetFinalizers(unique(o.GetFinalizers(), func(f string) string { return f }))
		o.SetOwnerReferences(unique(o.GetOwnerReferences(), func(r metav1.OwnerReference) types.UID { return r.UID }))
	}
}

func unique[T any, K comparable](list []T, key func(T) K) []T {
	seen := map[K]bool{}
	return slices.DeleteFunc(list, func(x T) bool {
		double := seen[key(x)]
		seen[key(x)] = true
		return double
	})
}

func (r *resource[T]) ModifyStatus(ctx context.Context, observed T, change func(T)) (T, error) {
	return r.ask(ctx, "modify status of", observed.GetName(), observed, func() (T, error) {
		if err := r.same(observed); err != nil {
			return observed, err
		}
		return r.table.EditStatus(observed.GetNamespace(), observed.GetName(), change)
	})
}

func (r *resource[T]) same(observed metav1.Object) error {
	now, err := r.table.Get(observed.GetNamespace(), observed.GetName())
	if err == nil && now.GetUID() != observed.GetUID() {
		return apierrors.NewNotFound(r.table.resource(), observed.GetName())
	}
	return err
}

func (r *resource[T]) Delete(ctx context.Context, o T, opts client.DeleteOptions) error {
	_, err := r.ask(ctx, "delete", o.GetName(), o, func() (T, error) {
		if now, err := r.table.Get(o.GetNamespace(), o.GetName()); opts.Unchanged && err == nil && now.GetResourceVersion() != o.GetResourceVersion() {
			return o, apierrors.NewConflict(r.table.resource(), o.GetName(), errors.New("it has changed"))
		}
		return o, r.table.Delete(o.GetNamespace(), o.GetName(), o.GetUID(), opts)
	})
	return err
}

// ask sends a request and waits for the answer.
func (r *resource[T]) ask(ctx context.Context, verb, name string, sent client.Object, do func() (T, error)) (T, error) {
	q := r.request(verb, name, sent)
	q.do = func() (client.Object, error) { return do() }
	return r.send(ctx, q)
}

func (r *resource[T]) request(verb, name string, sent client.Object) *Request {
	return &Request{By: r.process, Verb: verb, Kind: r.table.kind.Singular, Name: name, Object: sent, At: time.Now(),
		limited: verb == "create" && !r.table.Unlimited, answer: make(chan answer, 1)}
}

func (r *resource[T]) send(ctx context.Context, q *Request) (none T, err error) {
	if q.By.dead.Load() {
		return none, apierrors.NewServiceUnavailable("the process is dead")
	}
	q.By.requests.add(q)
	select {
	case a := <-q.answer:
		if a.err != nil {
			return none, a.err
		}
		return a.object.(T), nil
	case <-ctx.Done():
		q.By.requests.remove(q)
		return none, ctx.Err()
	}
}
