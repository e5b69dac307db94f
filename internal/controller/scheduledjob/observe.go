package scheduledjob

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/loop"
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

// jobs returns those that sj controls: the ones that are shown, those just made, and those that must or may be there and
// are not shown. What it returns of a Job never goes back.
func (c *Controller) jobs(ctx context.Context, sj *stintv1.ScheduledJob) ([]*batchv1.Job, error) {
	shown := c.children.jobsOf(sj.UID)
	for _, name := range c.memory.expected(sj) {
		if slices.ContainsFunc(shown, func(j *batchv1.Job) bool { return j.Name == name }) {
			c.memory.settle(sj, name)
		}
	}
	jobs, early := c.memory.newestJobs(sj, shown)
	if early {
		c.queue.AddAfter(loop.Key(sj), trust)
	}
	unshown := c.unshown(sj, jobs)
	for _, name := range slices.Sorted(maps.Keys(unshown)) {
		uid := unshown[name]
		found, err := c.lookUp(ctx, sj, name)
		if err != nil {
			return nil, err
		}
		jobs = slices.DeleteFunc(jobs, func(j *batchv1.Job) bool { return j.Name == name })
		if uid != "" && (found == nil || found.UID != uid) {
			c.memory.sight(sj, uid, nil)
		}
		if found == nil {
			c.memory.settle(sj, name)
			continue
		}
		c.memory.sight(sj, found.UID, found)
		jobs = append(jobs, found)
	}
	return jobs, nil
}

// lookUp asks for a Job, and returns nil if sj has none of this name.
func (c *Controller) lookUp(ctx context.Context, sj *stintv1.ScheduledJob, name string) (*batchv1.Job, error) {
	found, err := c.client.Jobs().Get(ctx, sj.Namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("asking for Job %s/%s: %w", sj.Namespace, name, err)
	}
	if !metav1.IsControlledBy(found, sj) {
		return nil, nil
	}
	return found, nil
}

// unshown returns the names of Jobs that the status or the memory knows of and that are not among those shown, with
// their UIDs, where these are known.
func (c *Controller) unshown(sj *stintv1.ScheduledJob, shown []*batchv1.Job) map[string]types.UID {
	names := map[string]types.UID{}
	for _, name := range append(c.memory.expected(sj), core.LookUp(sj)...) {
		names[name] = ""
	}
	for i := range sj.Status.RunningExecutions {
		run := &sj.Status.RunningExecutions[i]
		names[core.JobName(sj.Name, run.Tag)] = run.JobUID
	}
	for _, j := range shown {
		if uid, wanted := names[j.Name]; wanted && (uid == "" || uid == j.UID) {
			delete(names, j.Name)
		}
	}
	return names
}
