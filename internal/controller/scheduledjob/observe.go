package scheduledjob

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	core "github.com/stint-dev/stint/internal/scheduledjob"
)

func (c *Controller) observe(ctx context.Context, sj *stintv1.ScheduledJob) (core.Observation, error) {
	obs := core.Observation{ScheduledJob: sj, Template: sj.Spec.Template}
	var err error
	if obs.Jobs, err = c.jobs(ctx, sj); err != nil {
		return obs, err
	}
	if ref := sj.Spec.TemplateRef; ref != nil {
		if obs.Template, err = c.template(ctx, sj.Namespace, ref.Name); err != nil {
			return obs, err
		}
	}
	obs.Now = time.Now()
	c.lookAtEnds(sj, &obs)
	return obs, nil
}

// template returns the pods of a PodTemplate as they are now, nil if there is none.
func (c *Controller) template(ctx context.Context, namespace, name string) (*corev1.PodTemplateSpec, error) {
	found, err := c.client.PodTemplates().Get(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("asking for PodTemplate %s/%s: %w", namespace, name, err)
	}
	return &found.Template, nil
}

// jobs returns those that sj controls: the ones that are shown, and those that must or may be there and are not shown
// yet.
func (c *Controller) jobs(ctx context.Context, sj *stintv1.ScheduledJob) ([]*batchv1.Job, error) {
	jobs := c.children.jobsOf(sj.UID)
	for _, name := range c.memory.expected(sj) {
		if slices.ContainsFunc(jobs, func(j *batchv1.Job) bool { return j.Name == name }) {
			c.memory.settle(sj, name)
		}
	}
	for _, name := range c.unshown(sj, jobs) {
		found, err := c.client.Jobs().Get(ctx, sj.Namespace, name)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("asking for Job %s/%s: %w", sj.Namespace, name, err)
		}
		jobs = slices.DeleteFunc(jobs, func(j *batchv1.Job) bool { return j.Name == name })
		if ref := controller(found, err); ref == sj.UID {
			jobs = append(jobs, found)
		} else {
			c.memory.settle(sj, name)
		}
	}
	return jobs, nil
}

// controller returns the UID of the ScheduledJob that controls a Job which was asked for.
func controller(job *batchv1.Job, err error) types.UID {
	if err != nil {
		return ""
	}
	if ref := owner(job); ref != nil {
		return ref.UID
	}
	return ""
}

// unshown returns the names of Jobs that the status or the memory knows of and that are not among those shown.
func (c *Controller) unshown(sj *stintv1.ScheduledJob, shown []*batchv1.Job) []string {
	names := append(c.memory.expected(sj), core.LookUp(sj)...)
	slices.Sort(names)
	uids := map[string]types.UID{}
	for i := range sj.Status.RunningExecutions {
		uids[sj.Status.RunningExecutions[i].JobName] = sj.Status.RunningExecutions[i].JobUID
	}
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return slices.ContainsFunc(shown, func(j *batchv1.Job) bool {
			return j.Name == name && (uids[name] == "" || uids[name] == j.UID)
		})
	})
}
