package scheduledjob

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcore "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
	core "github.com/stint-dev/stint/internal/scheduledjob"
)

// exitCodes returns the exit codes of finished Jobs whose end is not in the status yet, by their UIDs.
func (c *Controller) exitCodes(ctx context.Context, sj *stintv1.ScheduledJob, jobs []*batchv1.Job) (map[types.UID][]stintv1.ExitCode, error) {
	codes := map[types.UID][]stintv1.ExitCode{}
	for _, job := range jobs {
		if !jobcore.Finished(job) || lists(sj.Status.CompletedExecutions, job.UID) {
			continue
		}
		pods := c.cachedPods(job)
		if lists(sj.Status.RunningExecutions, job.UID) && !allEnded(job, pods) {
			var err error
			if pods, err = c.livePods(ctx, job); err != nil {
				return nil, err
			}
		}
		codes[job.UID] = core.ExitCodes(job, pods)
	}
	return codes, nil
}

func lists(executions []stintv1.Execution, job types.UID) bool {
	return slices.ContainsFunc(executions, func(e stintv1.Execution) bool { return e.JobUID == job })
}

// allEnded reports whether pods are all pods that a finished Job has counted, and all have terminated. Pods have a watch of
// their own, so the end of a Job may be cached before the ends of its pods are.
func allEnded(job *batchv1.Job, pods []*corev1.Pod) bool {
	running := slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return !podstatus.IsTerminated(p) })
	return !running && len(pods) >= int(job.Status.Succeeded+job.Status.Failed)
}

func (c *Controller) cachedPods(job *batchv1.Job) (pods []*corev1.Pod) {
	for _, child := range c.pods.Of(job.UID) {
		pods = append(pods, child.Newest)
	}
	return pods
}

// livePods gets the pods of a Job from the server. Some of those that the Job has counted may be deleted already.
func (c *Controller) livePods(ctx context.Context, job *batchv1.Job) (pods []*corev1.Pod, err error) {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err == nil {
		_, err = c.client.Pods().List(ctx, job.Namespace, selector, func(p *corev1.Pod) {
			if metav1.IsControlledBy(p, job) {
				pods = append(pods, p)
			}
		})
	}
	if err != nil {
		return nil, fmt.Errorf("listing the pods of Job %s/%s for their exit codes: %w", job.Namespace, job.Name, err)
	}
	return pods, nil
}
