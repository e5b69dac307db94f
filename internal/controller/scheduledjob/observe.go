package scheduledjob

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/scheduledjob"
)

func (c *Controller) observe(ctx context.Context, sj *stintv1.ScheduledJob) (core.Observation, error) {
	obs := core.Observation{ScheduledJob: sj, Template: sj.Spec.Template}
	var err error
	if obs.Jobs, err = c.jobsOf(ctx, sj); err != nil {
		return obs, err
	}
	if ref := sj.Spec.TemplateRef; ref != nil {
		if obs.Template, err = c.template(ctx, sj.Namespace, ref.Name); err != nil {
			return obs, err
		}
	}
	if obs.ExitCodes, err = c.exitCodes(ctx, sj, obs.Jobs); err != nil {
		return obs, err
	}
	obs.Now = time.Now()
	return obs, nil
}

// template gets the template of a PodTemplate live; nil if there is none.
func (c *Controller) template(ctx context.Context, namespace, name string) (*corev1.PodTemplateSpec, error) {
	found, err := c.client.PodTemplates().Get(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("getting PodTemplate %s/%s: %w", namespace, name, err)
	}
	return &found.Template, nil
}

// jobsOf returns the Jobs that sj controls, sorted by name. It gets live those that the status lists, or that may have been
// created, and that are not known.
func (c *Controller) jobsOf(ctx context.Context, sj *stintv1.ScheduledJob) (jobs []*batchv1.Job, err error) {
	if err := c.jobs.Confirm(ctx, sj, c.client.Jobs(), listed(sj)); err != nil {
		return nil, err
	}
	for _, child := range c.jobs.Of(sj.UID) {
		if !child.Deleted {
			jobs = append(jobs, child.Newest)
		}
	}
	var unlisted *batchv1.Job
	c.scheduledJobs.Update(sj, func(s *state) { unlisted = s.unlisted })
	jobs = loop.WithUnlisted(jobs, unlisted)
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return cmp.Compare(a.Name, b.Name) })
	return jobs, nil
}

// listed returns the names of the Jobs that the status lists, with their UIDs if the status has them.
func listed(sj *stintv1.ScheduledJob) map[string]types.UID {
	jobs := map[string]types.UID{}
	for _, name := range core.JobsToGetLive(sj) {
		jobs[name] = ""
	}
	for i := range sj.Status.RunningExecutions {
		run := &sj.Status.RunningExecutions[i]
		jobs[core.JobName(sj.Name, run.Tag)] = run.JobUID
	}
	return jobs
}
