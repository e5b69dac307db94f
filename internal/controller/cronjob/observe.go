package cronjob

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/cronjob"
)

func (c *Controller) observe(ctx context.Context, cj *batchv1.CronJob) (core.Observation, error) {
	obs := core.Observation{CronJob: cj, ScheduleSince: c.memory.scheduleSince(cj), Deleted: map[types.UID]bool{}}
	jobs, err := c.newestJobs(ctx, cj)
	for _, job := range jobs {
		obs.Jobs = append(obs.Jobs, job)
	}
	for i := range cj.Status.Active {
		uid := cj.Status.Active[i].UID
		obs.Deleted[uid] = c.memory.isDeleted(uid)
	}
	obs.Now = time.Now()
	return obs, err
}

// newestJobs returns the Jobs that cj controls by name: as the informer shows them, unless what was written is newer. Those
// that must or may be there and are not shown are asked for.
func (c *Controller) newestJobs(ctx context.Context, cj *batchv1.CronJob) (map[string]*batchv1.Job, error) {
	jobs, err := c.shownJobs(cj)
	if err != nil {
		return nil, err
	}
	missing := map[string]bool{}
	for name, written := range c.memory.written(cj) {
		job := jobs[name]
		switch {
		case job == nil || written != nil && written.UID != job.UID:
			missing[name] = true
		case written != nil && !loop.Older(written, job):
			jobs[name] = written
		default:
			c.memory.settle(cj, name)
		}
	}
	for i := range cj.Status.Active {
		ref := &cj.Status.Active[i]
		if job := jobs[ref.Name]; (job == nil || job.UID != ref.UID) && !c.memory.isDeleted(ref.UID) {
			missing[ref.Name] = true
		}
	}
	for name := range missing {
		if err := c.ask(ctx, cj, name, jobs); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// shownJobs are those that the informer shows, without those of which it does not know yet that they were deleted.
func (c *Controller) shownJobs(cj *batchv1.CronJob) (map[string]*batchv1.Job, error) {
	shown, err := c.jobs.GetIndexer().ByIndex(byOwner, string(cj.UID))
	if err != nil {
		return nil, fmt.Errorf("looking up the Jobs of CronJob %s/%s: %w", cj.Namespace, cj.Name, err)
	}
	jobs := map[string]*batchv1.Job{}
	for _, obj := range shown {
		if job := obj.(*batchv1.Job); job.DeletionTimestamp != nil || !c.memory.isDeleted(job.UID) {
			jobs[job.Name] = job
		}
	}
	return jobs, nil
}

// ask replaces what jobs has under a name by what the server has.
func (c *Controller) ask(ctx context.Context, cj *batchv1.CronJob, name string, jobs map[string]*batchv1.Job) error {
	job, err := c.client.Jobs().Get(ctx, cj.Namespace, name)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("asking for Job %s/%s: %w", cj.Namespace, name, err)
	}
	if err == nil && metav1.IsControlledBy(job, cj) {
		jobs[name] = job
		return nil
	}
	delete(jobs, name)
	c.memory.settle(cj, name)
	return nil
}
