package scheduledjob

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/scheduledjob"
)

// maxJobCreates bounds the Jobs of one ScheduledJob that are created at the same time.
const maxJobCreates = 16

// create creates Jobs in batches of 1, 2, 4 …, and stops after the first batch with a temporary error, such as an exceeded
// quota, as the next Jobs would get it, too. It returns the outcome of each Job and the last temporary error.
func (c *Controller) create(ctx context.Context, sj *stintv1.ScheduledJob, jobs []*batchv1.Job) ([]core.Outcome, error) {
	outcomes := make([]core.Outcome, len(jobs))
	var failed error
	for from, size := 0, 1; from < len(jobs) && failed == nil; from, size = from+size, min(2*size, maxJobCreates) {
		batch := outcomes[from:min(from+size, len(jobs))]
		var running sync.WaitGroup
		for i := range batch {
			running.Go(func() { batch[i] = c.createOne(ctx, sj, jobs[from+i]) })
		}
		running.Wait()
		for i := range batch {
			if batch[i].Err != nil && !batch[i].Final() {
				failed = fmt.Errorf("creating Job %s/%s: %w", sj.Namespace, jobs[from+i].Name, batch[i].Err)
			}
		}
	}
	return outcomes, failed
}

// createOne creates a Job, or gets the one that was created before.
func (c *Controller) createOne(ctx context.Context, sj *stintv1.ScheduledJob, job *batchv1.Job) core.Outcome {
	c.jobs.Expect(sj.UID, job.Name)
	made, err := c.client.Jobs().Create(ctx, job)
	if err == nil {
		c.jobs.ObserveWrite(sj.UID, made)
		c.metrics.started(job, time.Now())
		return core.Outcome{Job: made}
	}
	if apierrors.IsAlreadyExists(err) {
		found, getErr := c.client.Jobs().Get(ctx, job.Namespace, job.Name)
		if getErr != nil {
			// NotFound is an error, too: the Job was deleted in between, and the next sync creates it.
			return core.Outcome{Err: fmt.Errorf("%s, but: %w", err.Error(), getErr)}
		}
		if metav1.IsControlledBy(found, sj) {
			c.jobs.ObserveWrite(sj.UID, found)
			return core.Outcome{Job: found}
		}
	}
	if apierrors.IsAlreadyExists(err) || loop.Refused(err) {
		c.jobs.Refused(sj.UID, job.Name)
	}
	return core.Outcome{Err: err}
}

// refused reports whether a run has failed for good without a Job.
func refused(outcomes []core.Outcome) bool {
	for _, o := range outcomes {
		if o.Final() {
			return true
		}
	}
	return false
}

// delete removes Jobs whose end is stored, and their pods with them.
func (c *Controller) delete(ctx context.Context, sj *stintv1.ScheduledJob, jobs []*batchv1.Job) error {
	var failed error
	for _, job := range jobs {
		err := c.client.Jobs().Delete(ctx, job, client.DeleteOptions{Propagation: metav1.DeletePropagationBackground})
		switch {
		case apierrors.IsNotFound(err):
			c.jobs.Gone(job.UID)
		case err == nil:
			c.jobs.Deleted(job.UID)
			c.recorder.Eventf(sj, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted job %v", job.Name)
		case !apierrors.IsConflict(err): // Another Job has the name now, which the informer will show.
			failed = errors.Join(failed, fmt.Errorf("deleting Job %s/%s: %w", job.Namespace, job.Name, err))
		}
	}
	return failed
}
