package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
)

// noJob is the name and the UID of a Job that does not exist.
const noJob types.UID = "no-job"

// cronRules hold for every write of a CronJob, whatever the scenario is about. Was is the CronJob before the write.
var cronRules = []struct {
	says  string
	holds func(w *world, was *knownCron, c *batchv1.CronJob) bool
}{
	{"lastScheduleTime never goes back", func(_ *world, was *knownCron, c *batchv1.CronJob) bool {
		return neverBack(was.Status.LastScheduleTime, c.Status.LastScheduleTime)
	}},
	{"lastSuccessfulTime never goes back", func(_ *world, was *knownCron, c *batchv1.CronJob) bool {
		return neverBack(was.Status.LastSuccessfulTime, c.Status.LastSuccessfulTime)
	}},
	{"a Job is listed as active once", func(_ *world, _ *knownCron, c *batchv1.CronJob) bool {
		return distinct(activeOf(c))
	}},
	{"only Jobs of its own are listed as active", func(w *world, was *knownCron, c *batchv1.CronJob) bool {
		for _, uid := range activeOf(c) {
			if !w.gaps && uid != noJob && !was.made[uid] {
				return false
			}
		}
		return true
	}},
}

// cronRunRules hold for every Job that is made and that a CronJob controls.
var cronRunRules = []struct {
	says  string
	holds func(w *world, owner *knownCron, j *batchv1.Job) bool
}{
	{"a time has one Job, ever", func(_ *world, owner *knownCron, j *batchv1.Job) bool {
		return !isScheduled(j) || !owner.times[j.Annotations[batchv1.CronJobScheduledTimestampAnnotation]]
	}},
	{"without concurrency no run starts beside another", func(w *world, owner *knownCron, j *batchv1.Job) bool {
		policy := owner.Spec.ConcurrencyPolicy
		active := func(o *batchv1.Job) bool { return isScheduled(o) || !w.reference && held(o) != "" }
		return w.gaps || !isScheduled(j) || policy == batchv1.AllowConcurrent || policy == "" || !w.beside(owner.UID, j, active)
	}},
}

// isScheduled checks that the CronJob's controller made the Job.
func isScheduled(j *batchv1.Job) bool {
	return j.Annotations[batchv1.CronJobScheduledTimestampAnnotation] != ""
}

func activeOf(c *batchv1.CronJob) []types.UID {
	var list []types.UID
	for _, ref := range c.Status.Active {
		list = append(list, ref.UID)
	}
	return list
}
