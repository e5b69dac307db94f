package loop

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Retries start quickly, since most errors are conflicts, and slow down for errors that last, like an exceeded quota.
const (
	minRetryDelay = 20 * time.Millisecond
	maxRetryDelay = time.Minute
)

// Queue holds the names of the objects to sync.
type Queue struct {
	workqueue.TypedRateLimitingInterface[types.NamespacedName]
}

// NewQueue returns a queue whose metrics have this name. If c is nil, it uses the real clock.
func NewQueue(name string, c clock.WithTicker) Queue {
	return Queue{workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](minRetryDelay, maxRetryDelay),
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: name, Clock: c})}
}

// Run calls syncOne for the objects in the queue, in several workers, until ctx ends, and requeues those for which it fails.
// It returns after the last call of syncOne.
func (q Queue) Run(ctx context.Context, workers int, syncOne func(context.Context, types.NamespacedName) error) {
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for q.next(ctx, syncOne) {
			}
		})
	}
	<-ctx.Done()
	q.ShutDown()
	working.Wait()
}

func (q Queue) next(ctx context.Context, syncOne func(context.Context, types.NamespacedName) error) bool {
	key, stop := q.Get()
	if stop {
		return false
	}
	defer q.Done(key)
	if err := syncOne(ctx, key); err != nil && ctx.Err() == nil {
		klog.FromContext(ctx).V(2).Info("Sync failed and will be retried", "object", key, "reason", err.Error())
		q.AddRateLimited(key)
	} else {
		q.Forget(key)
	}
	return true
}

// Key returns the name of an object in a queue.
func Key(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}
