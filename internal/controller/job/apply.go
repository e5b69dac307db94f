package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
)

// maxPodWrites bounds the writes to pods of one Job that are under way at the same time.
const maxPodWrites = 32

// apply carries out a decision. The order matters: finalizers are removed after the status that lists their pods, and events
// and metrics come after what they report. The status is stored after the writes to the pods that it counts as active, unless
// there are pods to count: they must not wait until others are created.
func (c *Controller) apply(ctx context.Context, job *batchv1.Job, d core.Decision) error {
	if err := c.adoptAndRelease(ctx, job, d); err != nil {
		return err
	}
	if len(d.Create) == 0 || len(d.RemoveFinalizer) == 0 {
		notCreated, failed := c.create(ctx, job, d)
		return errors.Join(failed, c.applyRest(ctx, job, d, notCreated))
	}
	created := make(chan error, 1)
	go func() {
		_, err := c.create(ctx, job, d)
		created <- err
	}()
	// If a pod is not created, the next status has the right number.
	err := c.applyRest(ctx, job, d, 0)
	return errors.Join(err, <-created)
}

// applyRest carries out what comes after adoptions and creations.
func (c *Controller) applyRest(ctx context.Context, job *batchv1.Job, d core.Decision, notCreated int) error {
	outcome, failed := c.deletePods(ctx, job, d)
	outcome.NotCreated = notCreated
	failed = errors.Join(failed, c.failPending(ctx, job, d.FailPending))
	next, urgency := d.Status(outcome)
	if d.Requeue || len(d.Events) > 0 || c.countsAtOnce() && len(d.RemoveFinalizer) >= maxPodWrites {
		urgency = core.Immediate
	}
	waits := next != nil && c.postpone(job, urgency)
	if waits && urgency == core.Batched {
		return failed
	}
	pods := d.FinalizersToRemove(outcome)
	recorded := c.results.StartRecording(ctx, job, pods)
	if next != nil && !waits {
		if err := c.store(ctx, job, next, urgency); err != nil {
			return errors.Join(failed, err, recorded(false))
		}
		for _, e := range d.Events {
			c.recorder.Event(job, e.Type, e.Reason, e.Message)
		}
		c.metrics.counted(job, d.Counts)
	}
	c.metrics.countPolicyActions(d.Counts.PolicyActions)
	var removed []*corev1.Pod
	err := recorded(true)
	if err == nil {
		removed, err = c.removeFinalizers(ctx, job, pods, d.DeleteCounted)
	}
	if err == nil {
		err = c.results.Prune(ctx, job)
	}
	if !d.Requeue {
		err = errors.Join(err, c.countRemovedFinalizers(ctx, job, removed))
	}
	return errors.Join(failed, err, c.deleteFailed(ctx, job, d.DeleteFailed))
}

// adoptAndRelease adopts pods and releases others.
func (c *Controller) adoptAndRelease(ctx context.Context, job *batchv1.Job, d core.Decision) error {
	if len(d.Adopt) > 0 {
		// A Job that is being deleted, or that another one of its name has replaced, must not adopt pods that are
		// then deleted with it. One with a newer status may have adopted and counted them already.
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

// countedOf returns those of pods that the status lists: they stay counted when the Job releases them.
func countedOf(job *batchv1.Job, pods []*corev1.Pod) []*corev1.Pod {
	counted := sets.New(core.Listed(job)...)
	return slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return !counted.Has(p.UID) })
}

// deletePods deletes pods and returns the outcome.
func (c *Controller) deletePods(ctx context.Context, job *batchv1.Job, d core.Decision) (core.Outcome, error) {
	o := core.Outcome{}
	var mu sync.Mutex
	remove := func(p *corev1.Pod) error {
		gone, err := c.deletePod(ctx, job, p)
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
	discardFailed := c.each(ctx, d.DeleteWithoutCounting, func(p *corev1.Pod) error {
		if err := c.removeFinalizer(ctx, job, p); err != nil {
			mu.Lock()
			defer mu.Unlock()
			o.NotDeleted = append(o.NotDeleted, p)
			return err
		}
		return remove(p)
	})
	deleteFailed := c.each(ctx, d.Delete, remove)
	return o, errors.Join(discardFailed, deleteFailed)
}

// deletePod deletes a pod. Gone means that there was none to delete.
func (c *Controller) deletePod(ctx context.Context, job *batchv1.Job, p *corev1.Pod) (gone bool, err error) {
	err = c.client.Pods().Delete(context.WithoutCancel(ctx), p, client.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		c.recorder.Eventf(job, corev1.EventTypeWarning, "FailedDelete", "Error deleting: %v", err)
		return false, fmt.Errorf("deleting pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	if err != nil {
		c.podCache.Gone(p.UID)
		return true, nil
	}
	c.podCache.Deleted(p.UID)
	c.recorder.Eventf(job, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: %v", p.Name)
	return false, nil
}

// store writes the status. A conflict means that the Job was changed and the decision is outdated; the next one sees
// the change.
func (c *Controller) store(ctx context.Context, job *batchv1.Job, next *batchv1.JobStatus, urgency core.WriteUrgency) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	changed := job.DeepCopy()
	changed.Status = *next
	stored, err := c.jobs.UpdateStatus(context.WithoutCancel(ctx), changed)
	if errors.Is(err, loop.ErrOutdated) {
		// The informer will soon show the newer version, so ErrOutdated, which costs a live read, is not returned.
		return fmt.Errorf("storing the status of Job %s: it has changed meanwhile", loop.Key(job))
	}
	if err != nil {
		return err
	}
	c.jobs.Update(stored, func(s *jobState) {
		s.externalStatus.last = stored
		s.statusPace.observeWrite(c.options.Clock.Now(), urgency)
	})
	return nil
}

// postpone reports whether a status write has to wait, so that one write stores several changes. It requeues the Job
// for then.
func (c *Controller) postpone(job *batchv1.Job, urgency core.WriteUrgency) bool {
	now, left := c.options.Clock.Now(), time.Duration(0)
	c.jobs.Update(job, func(s *jobState) {
		left = s.statusPace.due(now, periodFor(c.options.SyncBatchPeriod, s.pods), urgency).Sub(now)
	})
	if left > 0 {
		c.loop.Queue.AddAfter(loop.Key(job), left)
	}
	return left > 0
}

// removeFinalizers removes the finalizers of pods that the stored status lists and whose results are kept, and returns the
// pods that have lost theirs. They move to the counters a little later. Those that are also among deleted are deleted.
func (c *Controller) removeFinalizers(ctx context.Context, job *batchv1.Job, pods, deleted []*corev1.Pod) (removed []*corev1.Pod, err error) {
	if len(pods) == 0 {
		return nil, nil
	}
	c.podCache.record(job.UID, pods)
	c.postpone(job, core.Deferrable)
	goes := sets.New(deleted...)
	var mu sync.Mutex
	err = c.each(ctx, pods, func(p *corev1.Pod) error {
		remove := c.removeFinalizer
		if goes.Has(p) {
			remove = c.deleteCounted
		}
		if err := remove(ctx, job, p); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		removed = append(removed, p)
		return nil
	})
	return removed, err
}

// countsAtOnce reports whether terminated pods are listed as soon as there are many, and counted as soon as their finalizers
// are removed. With a short batch period the next status write that lists pods is due soon, and counts these too.
func (c *Controller) countsAtOnce() bool { return c.options.SyncBatchPeriod > minStatusDelay }

// countRemovedFinalizers moves pods to the counters.
func (c *Controller) countRemovedFinalizers(ctx context.Context, job *batchv1.Job, removed []*corev1.Pod) error {
	if !c.countsAtOnce() {
		return nil
	}
	job = c.jobs.Newest(job)
	next := core.MoveToCounters(&job.Status, removed)
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
	if podstatus.IsTerminated(p) {
		c.left.add(job.UID, p.UID)
	}
	err := c.modify(ctx, job, p, core.RemoveFinalizer)
	if err != nil {
		c.left.remove(job.UID, p.UID)
	}
	if err == nil {
		// The answer to the removal of the last finalizer of a deleted pod may still show it.
		c.podCache.observeFinalizerRemoved(p.UID)
	}
	return err
}

// deleteCounted deletes a pod in the write that removes its finalizer.
func (c *Controller) deleteCounted(ctx context.Context, _ *batchv1.Job, p *corev1.Pod) error {
	err := c.client.Pods().Delete(context.WithoutCancel(ctx), p, client.DeleteOptions{LastFinalizer: batchv1.JobTrackingFinalizer})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting pod %s/%s, which is counted: %w", p.Namespace, p.Name, err)
	}
	c.podCache.Gone(p.UID)
	c.metrics.succeededPodsRemoved.Inc()
	return nil
}

// modify changes a pod and observes the answer.
func (c *Controller) modify(ctx context.Context, job *batchv1.Job, p *corev1.Pod, change func(*corev1.Pod)) error {
	changed, err := c.client.Pods().Modify(context.WithoutCancel(ctx), p, change)
	if apierrors.IsNotFound(err) {
		c.podCache.Gone(p.UID)
		c.left.remove(job.UID, p.UID)
		return nil
	}
	if err != nil {
		return fmt.Errorf("changing pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	c.podCache.ObserveWrite(job.UID, changed)
	c.results.NoteEnd(changed)
	return nil
}

// each calls do for all pods, several at a time, and returns all errors. Once ctx ends no call begins, but those
// under way finish: no pod may appear after the next controller has listed the pods.
func (c *Controller) each(ctx context.Context, pods []*corev1.Pod, do func(*corev1.Pod) error) error {
	errs := make([]error, len(pods))
	var group sync.WaitGroup
	var taken atomic.Int64
	for range min(len(pods), maxPodWrites) {
		group.Go(func() {
			for i := taken.Add(1) - 1; int(i) < len(pods); i = taken.Add(1) - 1 {
				if errs[i] = ctx.Err(); errs[i] != nil {
					return
				}
				errs[i] = do(pods[i])
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
