package cronjob

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/cronjob"
)

func (c *Controller) observe(ctx context.Context, cj *batchv1.CronJob) (core.Observation, error) {
	obs := core.Observation{CronJob: cj, ScheduleSince: c.memory.scheduleSince(cj)}
	jobs, err := c.newestJobs(ctx, cj)
	for _, job := range jobs {
		obs.Jobs = append(obs.Jobs, job)
	}
	obs.Now = time.Now()
	return obs, err
}

// newestJobs returns the Jobs that cj controls by name: as the informer shows them, unless what was written is newer. Those
// that must or may be there and are not shown are asked for.
func (c *Controller) newestJobs(ctx context.Context, cj *batchv1.CronJob) (map[string]*batchv1.Job, error) {
	shown, err := c.jobs.GetIndexer().ByIndex(byOwner, string(cj.UID))
	if err != nil {
		return nil, fmt.Errorf("looking up the Jobs of CronJob %s/%s: %w", cj.Namespace, cj.Name, err)
	}
	jobs := map[string]*batchv1.Job{}
	for _, obj := range shown {
		job := obj.(*batchv1.Job)
		jobs[job.Name] = job
	}
	missing := map[string]bool{}
	for name, w := range c.memory.written(cj) {
		job, there := jobs[name]
		switch {
		case !there || w.job != nil && w.job.UID != job.UID:
			missing[name] = true
		case w.deleted:
			jobs[name] = leaving(job)
		case w.job != nil && !older(w.job, job):
			jobs[name] = w.job
		default:
			c.memory.settle(cj, name)
		}
	}
	for i := range cj.Status.Active {
		ref := &cj.Status.Active[i]
		if job := jobs[ref.Name]; job == nil || job.UID != ref.UID {
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

// leaving is a Job whose deletion is not shown yet.
func leaving(job *batchv1.Job) *batchv1.Job {
	if job.DeletionTimestamp == nil {
		job = job.DeepCopy()
		job.DeletionTimestamp = ptr.To(metav1.Now())
	}
	return job
}
