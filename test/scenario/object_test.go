package scenario_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"github.com/stint-dev/stint/test/await"
)

// object is a handle on an object of one kind that a controller syncs.
type object[T metav1.Object] struct {
	subject
	stored objects[T]
	// describe returns the status in words.
	describe func(T) string
	// settles returns when its controller has provably synced all that was written until now.
	settles func()
}

// objects are the objects of one kind in the namespace of the scene.
type objects[T metav1.Object] interface {
	Get(context.Context, string, metav1.GetOptions) (T, error)
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	UpdateStatus(context.Context, T, metav1.UpdateOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
}

// now is the newest state that the history shows.
func (o *object[T]) now() T { o.Helper(); return o.becomes() }

// in returns the newest state, and whether the object exists. Call it from until only.
func (o *object[T]) in(h *history) (now T, there bool) {
	now, there = h.newest[o.uid].(T)
	return now, there
}

// becomes waits until all checks hold at the same time.
func (o *object[T]) becomes(checks ...func(T) string) (now T) {
	o.Helper()
	o.eventually(func(h *history) (missing string) {
		var there bool
		if now, there = o.in(h); !there {
			return fmt.Sprintf("%s %s, which is gone", o.kind, o.name)
		}
		if failed := failing(now, checks); failed != "" {
			return fmt.Sprintf("%s %s: %s\n\tit is %s", o.kind, o.name, failed, o.describe(now))
		}
		return ""
	})
	return now
}

// stays waits until the controller has synced all that was written; the checks hold now, then, and at any time between.
func (o *object[T]) stays(checks ...func(T) string) {
	o.Helper()
	o.becomes(checks...)
	o.history.mu.Lock()
	from := len(o.history.changes)
	o.history.mu.Unlock()
	o.settles()
	o.history.mu.Lock()
	defer o.history.mu.Unlock()
	for _, c := range o.history.changes[from:] {
		if now, is := c.object.(T); is && now.GetUID() == o.uid && !c.deleted {
			if failed := failing(now, checks); failed != "" {
				o.Fatalf("%s %s should have stayed as it was: %s\n\tit became %s", o.kind, o.name, failed, o.describe(now))
			}
		}
	}
}

// update changes the object as a user does.
func (o *object[T]) update(change func(T)) {
	o.Helper()
	o.write(change, func(now T) (T, error) { return o.stored.Update(o.Context(), now, metav1.UpdateOptions{}) })
}

// updateStatus changes the status, which otherwise only the controller writes.
func (o *object[T]) updateStatus(change func(T)) {
	o.Helper()
	o.write(change, func(now T) (T, error) { return o.stored.UpdateStatus(o.Context(), now, metav1.UpdateOptions{}) })
}

// persistent retries conflicts: a controller writes the same object and may be faster again and again.
var persistent = wait.Backoff{Steps: int(await.Limit / againAfter), Duration: againAfter, Factor: 1, Jitter: 1}

const againAfter = 10 * time.Millisecond

func (o *object[T]) write(change func(T), write func(T) (T, error)) {
	o.Helper()
	var written T
	o.must(retry.RetryOnConflict(persistent, func() error {
		now, err := o.stored.Get(o.Context(), o.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(now)
		written, err = write(now)
		return err
	}))
	o.sees(written)
}

// delete deletes the object. Finalizers and dependents may keep it for a while.
func (o *object[T]) delete(propagation metav1.DeletionPropagation) {
	o.Helper()
	o.must(o.stored.Delete(o.Context(), o.name, metav1.DeleteOptions{
		PropagationPolicy: &propagation, Preconditions: &metav1.Preconditions{UID: &o.uid},
	}))
	o.eventually(func(h *history) string {
		if now, there := o.in(h); there && now.GetDeletionTimestamp() == nil {
			return fmt.Sprintf("the deletion of %s %s to be seen", o.kind, o.name)
		}
		return ""
	})
}

// gone waits until the object does not exist any more.
func (o *object[T]) gone() {
	o.Helper()
	o.eventually(func(h *history) string {
		if _, there := o.in(h); there {
			return fmt.Sprintf("%s %s to go", o.kind, o.name)
		}
		return ""
	})
}
