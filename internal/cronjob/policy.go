package cronjob

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobcore "github.com/stint-dev/stint/internal/job"
)

// applyConcurrencyPolicy decides which of the existing runs are suspended, resumed or replaced.
//
//	policy   runs on demand created while others are active   held runs
//	Allow    start                                            are resumed
//	Forbid   are held                                         are resumed one by one, oldest first
//	Replace  replace the others                               are resumed
func (v *view) applyConcurrencyPolicy(d *Decision) {
	switch v.cronJob.Spec.ConcurrencyPolicy {
	case batchv1.ForbidConcurrent:
		d.Suspend = v.runsToSuspend()
		waiting := v.held
		if len(v.running) == 0 && len(v.held) > 0 {
			d.Resume, waiting = v.held[:1], v.held[1:]
		}
		for _, job := range waiting {
			d.addEvent(corev1.EventTypeNormal, "RunHeld", fmt.Sprintf("Job %s waits until others have ended: concurrency policy is Forbid", job.Name))
		}
	case batchv1.ReplaceConcurrent:
		d.Resume = v.held
		d.Replace = v.runsToReplace()
	default:
		d.Resume = v.held
	}
}

// runsToSuspend are the runs on demand that were created while others were active. Runs in status.active, or resumed by a
// user, are never held.
func (v *view) runsToSuspend() []*batchv1.Job {
	var late []*batchv1.Job
	for i, job := range v.running {
		stays := func(other *batchv1.Job) bool { return !v.mayBeHeld(other) }
		if v.mayBeHeld(job) && (i > 0 || slices.ContainsFunc(v.running, stays)) {
			late = append(late, job)
		}
	}
	return late
}

func (v *view) mayBeHeld(job *batchv1.Job) bool {
	_, resumed := job.Annotations[jobcore.HeldAnnotation]
	return IsManual(job) && !resumed && !v.listedActive[job.UID] && job.DeletionTimestamp == nil && !ptr.Deref(job.Spec.Suspend, false)
}

// runsToReplace are all active runs but the newest that status.active does not list; none if it lists all.
func (v *view) runsToReplace() []*batchv1.Job {
	for i, job := range slices.Backward(v.running) {
		if !v.listedActive[job.UID] {
			return slices.Delete(slices.Clone(v.running), i, i+1)
		}
	}
	return nil
}

// Blocker returns the run for which a run on demand that is about to be created has to wait; nil if it can start at once.
// jobs are those that the CronJob controls.
func Blocker(cronJob *batchv1.CronJob, jobs []*batchv1.Job) *batchv1.Job {
	if cronJob.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent {
		return nil
	}
	v := newView(Observation{CronJob: cronJob, Jobs: jobs})
	if ahead := append(v.running, v.held...); len(ahead) > 0 {
		return ahead[0]
	}
	return nil
}
