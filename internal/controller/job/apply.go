package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
)

// maxPodWrites bounds the writes to pods of one Job that are under way at the same time.
const maxPodWrites = 32

// apply carries a decision out. The order matters: status after the pods it speaks of, finalizers after the status that
// counts them, events and metrics after what they tell.
func (c *Controller) apply(ctx context.Context, job *batchv1.Job, d core.Decision) error {
	if err := c.adoptAndRelease(ctx, job, d); err != nil {
		return err
	}
	outcome, failed := c.changePods(ctx, job, d)
	failed = errors.Join(failed, c.failPending(ctx, job, d.FailPending))
	next, patience := d.Status(outcome)
	if d.Requeue || len(d.Events) > 0 {
		patience = core.Immediate
	}
	waits := next != nil && c.postpone(job, patience)
	if waits && patience == core.Batched {
		return failed
	}
	pods := d.FinalizersToRemove(outcome)
	recorded := c.results.StartRecording(ctx, job, pods)
	if next != nil && !waits {
		if err := c.store(ctx, job, next, patience); err != nil {
			return errors.Join(failed, err, recorded(false))
		}
		for _, e := range d.Events {
			c.recorder.Event(job, e.Type, e.Reason, e.Message)
		}
		c.metrics.counted(job, d.Counts)
	}
	c.metrics.countPolicyActions(d.Counts.PolicyActions)
	var released []*corev1.Pod
	err := recorded(true)
	if err == nil {
		released, err = c.release(ctx, job, pods)
	}
	if err == nil {
		err = c.results.Prune(ctx, job)
	}
	if !d.Requeue {
		err = errors.Join(err, c.countRemovedFinalizers(ctx, job, released))
	}
	return errors.Join(failed, err, c.removeFailed(ctx, job, d.DeleteFailed))
}

// adoptAndRelease adopts pods and lets go of others.
func (c *Controller) adoptAndRelease(ctx context.Context, job *batchv1.Job, d core.Decision) error {
	if len(d.Adopt) > 0 {
		// A Job that is being deleted or is another one by now must not get hold of pods that then go with it, and one
		// with a newer status may have adopted and counted them already.
		if err := c.confirm(ctx, job); err != nil {
			return fmt.Errorf("adopting pods: %w", err)
		}
	}
	err := c.each(ctx, d.Adopt, func(p *corev1.Pod) error {
		return c.modify(ctx, job, p, func(p *corev1.Pod) { core.Adopt(job, p) })
	})
	if counted := countedOf(job, d.Release); len(counted) > 0 {
		if notKept := c.results.Record(ctx, job, counted); notKept != nil {
			return errors.Join(err, notKept)
		}
	}
	return errors.Join(err, c.each(ctx, d.Release, func(p *corev1.Pod) error {
		return c.modify(ctx, job, p, func(p *corev1.Pod) {
			p.OwnerReferences = slices.DeleteFunc(p.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == job.UID })
			core.RemoveFinalizer(p)
		})
	}))
}

// countedOf returns those of pods that the status lists: they count, whoever has them by now.
func countedOf(job *batchv1.Job, pods []*corev1.Pod) []*corev1.Pod {
	counted := sets.New(core.Listed(job)...)
	return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return !counted.Has(p.UID) })
}

// changePods creates and removes pods and tells what came of it.
func (c *Controller) changePods(ctx context.Context, job *batchv1.Job, d core.Decision) (core.Outcome, error) {
	o := core.Outcome{}
	var createFailed error
	if len(d.Create) > 0 {
		var made int
		made, createFailed = c.create(ctx, job, d.Create)
		o.NotCreated = len(d.Create) - made
		c.metrics.created(d.Counts.CreationReason, made, o.NotCreated)
	}
	var mu sync.Mutex
	remove := func(p *corev1.Pod) error {
		gone, err := c.remove(ctx, job, p)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			o.NotDeleted = append(o.NotDeleted, p)
		case gone:
			o.AlreadyDeleted = append(o.AlreadyDeleted, p)
		}
		return err
	}
	discardFailed := c.each(ctx, d.DeleteUncounted, func(p *corev1.Pod) error {
		if err := c.removeFinalizer(ctx, job, p); err != nil {
			mu.Lock()
			defer mu.Unlock()
			o.NotDeleted = append(o.NotDeleted, p)
			return err
		}
		return remove(p)
	})
	deleteFailed := c.each(ctx, d.Delete, remove)
	return o, errors.Join(createFailed, discardFailed, deleteFailed)
}

// remove tells a pod to end, or that it is gone.
func (c *Controller) remove(ctx context.Context, job *batchv1.Job, p *corev1.Pod) (gone bool, err error) {
	err = c.client.Pods().Delete(context.WithoutCancel(ctx), p, client.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		c.recorder.Eventf(job, corev1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
		return false, fmt.Errorf("deleting pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	c.failed.remove(p.UID)
	if err != nil {
		c.podCache.Gone(p.UID)
		return true, nil
	}
	c.podCache.Deleted(p.UID)
	c.recorder.Eventf(job, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %v", p.Name)
	return false, nil
}

// store writes the status. A conflict means that somebody changed the Job: then the decision was made on old news, and
// the next one sees the change.
func (c *Controller) store(ctx context.Context, job *batchv1.Job, next *batchv1.JobStatus, patience core.WriteUrgency) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	changed := job.DeepCopy()
	changed.Status = *next
	written, err := c.client.Jobs().UpdateStatus(context.WithoutCancel(ctx), changed)
	if err != nil {
		return fmt.Errorf("storing the status of Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	c.stateStore.observeWrite(written, c.options.Clock.Now(), patience)
	return nil
}

// postpone puts off a status write that may wait, in the hope that there is more to store soon.
func (c *Controller) postpone(job *batchv1.Job, patience core.WriteUrgency) bool {
	left := c.stateStore.postpone(job.UID, c.options.Clock.Now(), patience)
	if left > 0 {
		c.loop.Queue.AddAfter(loop.Key(job), left)
	}
	return left > 0
}

// release takes the finalizer off pods that the stored status accounts for and whose results are kept, and returns those
// that have lost it. The counters may take them a little later.
func (c *Controller) release(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) (released []*corev1.Pod, err error) {
	if len(pods) == 0 {
		return nil, nil
	}
	c.podCache.record(job.UID, pods)
	c.postpone(job, core.Deferrable)
	var mu sync.Mutex
	err = c.each(ctx, pods, func(p *corev1.Pod) error {
		if err := c.removeFinalizer(ctx, job, p); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		released = append(released, p)
		return nil
	})
	return released, err
}

// countRemovedFinalizers counts pods as soon as they are released, where the next list, which could do it along, is not near.
func (c *Controller) countRemovedFinalizers(ctx context.Context, job *batchv1.Job, released []*corev1.Pod) error {
	if c.options.SyncBatchPeriod <= minStatusDelay {
		return nil
	}
	job = c.stateStore.newest(job)
	next := core.MoveToCounters(&job.Status, released)
	if next == nil {
		return nil
	}
	if err := c.store(ctx, job, next, core.Deferrable); err != nil {
		return err
	}
	c.metrics.counted(job, core.Counts{
		PodsSucceeded: int(next.Succeeded - job.Status.Succeeded), PodsFailed: int(next.Failed - job.Status.Failed)})
	return nil
}

func (c *Controller) removeFinalizer(ctx context.Context, job *batchv1.Job, p *corev1.Pod) error {
	if !core.HasFinalizer(p) {
		return nil
	}
	err := c.modify(ctx, job, p, core.RemoveFinalizer)
	if err == nil {
		// Where the pod went with its last finalizer, what modify got back still shows it.
		c.podCache.release(p.UID)
	}
	return err
}

// modify changes a pod and takes the answer into the cache.
func (c *Controller) modify(ctx context.Context, job *batchv1.Job, p *corev1.Pod, change func(*corev1.Pod)) error {
	changed, err := c.client.Pods().Modify(context.WithoutCancel(ctx), p, change)
	if apierrors.IsNotFound(err) {
		c.podCache.Gone(p.UID)
		return nil
	}
	if err != nil {
		return fmt.Errorf("changing pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	c.podCache.ObserveWrite(job.UID, changed)
	c.results.NoteEnd(changed)
	return nil
}

// each does the same to all pods, several at a time, and returns what went wrong. Once ctx ends no more are begun, but
// those under way are finished: the next controller must not find a pod appear that it could not see.
func (c *Controller) each(ctx context.Context, pods []*corev1.Pod, do func(*corev1.Pod) error) error {
	errs := make([]error, len(pods))
	var group sync.WaitGroup
	slots := make(chan struct{}, maxPodWrites)
	for i, p := range pods {
		slots <- struct{}{}
		if errs[i] = ctx.Err(); errs[i] != nil {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(p)
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
