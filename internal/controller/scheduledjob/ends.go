package scheduledjob

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/loop"
	jobcore "github.com/stint-dev/stint/internal/job"
	core "github.com/stint-dev/stint/internal/scheduledjob"
)

const (
	// patience is how long the end of a Job is kept back for its exit codes: pods are watched apart from Jobs.
	patience = 2 * time.Second
	// glance is how long until the next look, where no news of pods comes before.
	glance = 100 * time.Millisecond
)

// lookAtEnds adds the exit codes of Jobs whose end is news. A Job whose pods are not all known is shown as not ended
// yet.
func (c *Controller) lookAtEnds(sj *stintv1.ScheduledJob, obs *core.Observation) {
	obs.ExitCodes = map[types.UID][]stintv1.ExitCode{}
	for i, job := range obs.Jobs {
		if !jobcore.Finished(job) {
			continue
		}
		if lists(sj.Status.CompletedExecutions, job.UID) {
			c.memory.told(sj, job.UID)
			continue
		}
		pods := c.children.podsOf(job.UID)
		if lists(sj.Status.RunningExecutions, job.UID) && !c.allKnown(job, pods) &&
			obs.Now.Sub(c.memory.endedAt(sj, job.UID, obs.Now)) < patience {
			obs.Jobs[i] = withoutEnd(job)
			c.queue.AddAfter(loop.Key(sj), glance)
			continue
		}
		obs.ExitCodes[job.UID] = core.ExitCodes(job, pods)
	}
}

func lists(executions []stintv1.Execution, job types.UID) bool {
	return slices.ContainsFunc(executions, func(e stintv1.Execution) bool { return e.JobUID == job })
}

// allKnown tells whether the informer shows all that became of a Job's pods.
func (c *Controller) allKnown(job *batchv1.Job, pods []*corev1.Pod) bool {
	if loop.OlderVersion(job.ResourceVersion, c.pods.LastSyncResourceVersion()) {
		return true
	}
	ended := 0
	for _, p := range pods {
		if !over(p) {
			return false
		}
		ended++
	}
	return ended >= int(job.Status.Succeeded+job.Status.Failed)
}

func withoutEnd(job *batchv1.Job) *batchv1.Job {
	job = job.DeepCopy()
	end := jobcore.End(job).Type
	job.Status.Conditions = slices.DeleteFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == end })
	return job
}
