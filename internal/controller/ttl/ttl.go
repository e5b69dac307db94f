// Package ttl deletes Jobs some time after they have finished, as spec.ttlSecondsAfterFinished says, with all that
// belongs to them.
package ttl

import (
	"context"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/internal/client"
)

const (
	workers = 5
	// Retries after an error.
	firstRetry, lastRetry = 20 * time.Millisecond, time.Minute
)

// Controller deletes the expired Jobs of one API server.
type Controller struct {
	jobs  client.Resource[*batchv1.Job]
	queue workqueue.TypedRateLimitingInterface[types.NamespacedName]
	shown cache.InformerSynced
	// watching is what kept New from watching Jobs.
	watching error
}

// New watches the Jobs of c. The informers may be started after it returns.
func New(c client.Interface) *Controller {
	t := &Controller{
		jobs: c.Jobs(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: "ttl"}),
	}
	registration, err := t.jobs.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { t.schedule(obj.(*batchv1.Job)) },
		UpdateFunc: func(_, obj any) { t.schedule(obj.(*batchv1.Job)) },
	})
	if err != nil {
		t.watching = fmt.Errorf("ttl: watch jobs: %w", err)
		return t
	}
	t.shown = registration.HasSynced
	return t
}

// Run works until ctx ends.
func (t *Controller) Run(ctx context.Context) error {
	if t.watching != nil {
		return t.watching
	}
	defer t.queue.ShutDown()
	if !cache.WaitForCacheSync(ctx.Done(), t.shown) {
		return nil
	}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() { t.work(ctx) })
	}
	<-ctx.Done()
	t.queue.ShutDown()
	running.Wait()
	return nil
}

func (t *Controller) schedule(job *batchv1.Job) {
	if expiry, ok := Expiry(job); ok {
		t.queue.AddAfter(types.NamespacedName{Namespace: job.Namespace, Name: job.Name}, time.Until(expiry))
	}
}

func (t *Controller) work(ctx context.Context) {
	for {
		key, stop := t.queue.Get()
		if stop {
			return
		}
		if err := t.expire(ctx, key); err != nil && ctx.Err() == nil {
			klog.V(2).InfoS("Job could not be deleted yet", "job", key, "err", err)
			t.queue.AddRateLimited(key)
		} else {
			t.queue.Forget(key)
		}
		t.queue.Done(key)
	}
}

// expire deletes the Job if it still has to go: it is read anew, because its time to live may have been changed since,
// and another Job may have taken its name.
func (t *Controller) expire(ctx context.Context, key types.NamespacedName) error {
	job, err := t.jobs.Get(ctx, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	expiry, ok := Expiry(job)
	if !ok {
		return nil
	}
	if wait := time.Until(expiry); wait > 0 {
		t.queue.AddAfter(key, wait)
		return nil
	}
	err = t.jobs.Delete(ctx, job, client.DeleteOptions{Propagation: metav1.DeletePropagationForeground, Unchanged: true})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Expiry tells when a Job is to be deleted, if ever. A clock that was set back only delays it: the time counts from
// what the Job says, not from when it was seen.
func Expiry(job *batchv1.Job) (time.Time, bool) {
	ttl := job.Spec.TTLSecondsAfterFinished
	if ttl == nil || job.DeletionTimestamp != nil {
		return time.Time{}, false
	}
	for _, c := range job.Status.Conditions {
		ended := c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed
		if ended && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Add(time.Duration(*ttl) * time.Second), true
		}
	}
	return time.Time{}, false
}
