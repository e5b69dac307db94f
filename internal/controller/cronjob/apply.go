package cronjob

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/cronjob"
)

// start creates the Job that is due, or gets the one that was created before. It returns nil if there is none.
func (c *Controller) start(ctx context.Context, cj *batchv1.CronJob, d *core.Decision) (*batchv1.Job, error) {
	if d.Start == nil {
		return nil, nil
	}
	c.jobs.Expect(cj.UID, d.Start.Name)
	made, err := c.client.Jobs().Create(ctx, d.Start)
	switch {
	case err == nil:
		c.jobs.ObserveWrite(cj.UID, made)
		c.metrics.started(made, d.Due)
		c.recorder.Eventf(cj, corev1.EventTypeNormal, "SuccessfulCreate", "Created job %v", made.Name)
		return made, nil
	case apierrors.IsAlreadyExists(err):
		return c.adopt(ctx, cj, d.Start.Name, err)
	case loop.Refused(err):
		c.jobs.Refused(cj.UID, d.Start.Name)
	}
	if !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		c.recorder.Eventf(cj, corev1.EventTypeWarning, "FailedCreate", "Error creating job: %v", err)
	}
	return nil, fmt.Errorf("creating Job %s/%s: %w", cj.Namespace, d.Start.Name, err)
}

// adopt gets the Job that has the name of a due time and returns it if the CronJob controls it. A Job of another owner is
// left alone.
func (c *Controller) adopt(ctx context.Context, cj *batchv1.CronJob, name string, refused error) (*batchv1.Job, error) {
	found, err := c.client.Jobs().Get(ctx, cj.Namespace, name)
	if err != nil {
		// NotFound is an error, too: the Job was deleted in between, and the next sync creates it.
		return nil, fmt.Errorf("getting Job %s/%s: %w", cj.Namespace, name, err)
	}
	if metav1.IsControlledBy(found, cj) {
		c.jobs.ObserveWrite(cj.UID, found)
		return found, nil
	}
	c.jobs.Refused(cj.UID, name)
	c.recorder.Eventf(cj, corev1.EventTypeWarning, "FailedCreate", "Error creating job: %v", refused)
	return nil, nil
}

// applyConcurrencyPolicy suspends, resumes and replaces runs as decided.
func (c *Controller) applyConcurrencyPolicy(ctx context.Context, cj *batchv1.CronJob, d *core.Decision) error {
	var failed error
	for _, job := range d.Suspend {
		failed = errors.Join(failed, c.modify(ctx, cj, job, func(j *batchv1.Job) { core.SuspendRun(j, time.Now()) }))
	}
	for _, job := range d.Resume {
		err := c.modify(ctx, cj, job, core.ResumeRun)
		if err == nil {
			c.recorder.Eventf(cj, corev1.EventTypeNormal, "RunReleased", "Resumed job %v", job.Name)
		}
		failed = errors.Join(failed, err)
	}
	return errors.Join(failed, c.delete(ctx, cj, d.Replace))
}

// modify changes a Job. If the Job is gone, that is no error: the next decision takes it into account.
func (c *Controller) modify(ctx context.Context, cj *batchv1.CronJob, job *batchv1.Job, change func(*batchv1.Job)) error {
	changed, err := c.client.Jobs().Modify(ctx, job, change)
	if apierrors.IsNotFound(err) {
		c.deleted.Add(job.UID, nil)
		c.jobs.Gone(job.UID)
		return nil
	}
	if err != nil {
		return fmt.Errorf("changing Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	c.jobs.ObserveWrite(cj.UID, changed)
	return nil
}

// delete removes Jobs and their pods with them.
func (c *Controller) delete(ctx context.Context, cj *batchv1.CronJob, jobs []*batchv1.Job) error {
	var failed error
	for _, job := range jobs {
		err := c.client.Jobs().Delete(ctx, job, client.DeleteOptions{Propagation: metav1.DeletePropagationBackground})
		switch {
		case err == nil:
			c.recorder.Eventf(cj, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted job %v", job.Name)
		case !apierrors.IsNotFound(err) && !apierrors.IsConflict(err): // A conflict means another UID: the Job is gone, too.
			c.recorder.Eventf(cj, corev1.EventTypeWarning, "FailedDelete", "Deleted job: %v", err)
			failed = errors.Join(failed, fmt.Errorf("deleting Job %s/%s: %w", job.Namespace, job.Name, err))
			continue
		}
		c.deleted.Add(job.UID, nil)
		c.jobs.Deleted(job.UID)
	}
	return failed
}
