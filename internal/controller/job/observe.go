package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	core "github.com/stint-dev/stint/internal/job"
)

// observe gathers all that the next decision about job depends on.
func (c *Controller) observe(ctx context.Context, job *batchv1.Job) (core.Observation, error) {
	obs := core.Observation{
		Job: job, Now: c.options.Clock.Now(), Settings: c.options.settings(), TerminatedPods: c.left.count(job.UID),
	}
	var err error
	if obs.Dependencies, err = c.dependencies(ctx, job); err != nil {
		return obs, err
	}
	c.jobs.Update(job, func(s *jobState) { s.createBackoff.observe(&obs) })
	err = c.observePods(ctx, &obs)
	return obs, err
}

// observePods fills in the pods. It first reads those live that the informer should have shown long ago, or that
// could be counted twice.
func (c *Controller) observePods(ctx context.Context, obs *core.Observation) error {
	if err := c.getNewest(ctx, obs.Job, c.podCache.Overdue(obs.Job.UID)); err != nil {
		return err
	}
	var status *externalStatus // which nothing but this sync reads and changes
	c.jobs.Update(obs.Job, func(s *jobState) {
		s.externalStatus.observe(obs.Job)
		status = &s.externalStatus
	})
	if err := c.catchUp(ctx, obs.Job, status); err != nil {
		return err
	}
	c.podCache.observe(obs)
	return nil
}

// confirm fails unless job is the newest version: a status that the informer does not show yet could count its pods.
func (c *Controller) confirm(ctx context.Context, job *batchv1.Job) error {
	fresh, err := c.client.Jobs().Get(ctx, job.Namespace, job.Name)
	if err != nil {
		return fmt.Errorf("getting Job %s/%s: %w", job.Namespace, job.Name, err)
	}
	if fresh.UID != job.UID || fresh.ResourceVersion != job.ResourceVersion {
		return fmt.Errorf("job %s/%s has changed and is not cached yet", job.Namespace, job.Name)
	}
	return nil
}

// getNewest observes live pods. Those that do not exist any more are dropped.
func (c *Controller) getNewest(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) error {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return c.each(ctx, pods, func(p *corev1.Pod) error {
		stored, err := c.storedPod(ctx, p)
		switch {
		case err != nil:
			return fmt.Errorf("getting pod %s/%s: %w", p.Namespace, p.Name, err)
		case stored == nil || stored.UID != p.UID:
			c.podCache.Gone(p.UID)
		default:
			c.podCache.ObserveWrite(job.UID, stored)
		}
		return nil
	})
}

// storedPod returns the live pod of the name of p, or nil. It may have another UID.
func (c *Controller) storedPod(ctx context.Context, p *corev1.Pod) (*corev1.Pod, error) {
	found, err := c.client.Pods().Get(ctx, p.Namespace, p.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}
