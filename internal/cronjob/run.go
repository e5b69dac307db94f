package cronjob

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobcore "github.com/stint-dev/stint/internal/job"
)

// kubectl create job --from=cronjob/… sets this annotation.
const instantiateAnnotation, manually = "cronjob.kubernetes.io/instantiate", "manual"

// view is an observation with its Jobs sorted.
type view struct {
	Observation
	cronJob *batchv1.CronJob
	// listedActive are the runs that status.active lists.
	listedActive map[types.UID]bool
	// running are the unfinished runs that are not held, held those that are. Both are sorted, oldest first.
	running, held []*batchv1.Job
	// ended are all finished Jobs, otherJobs the unfinished ones that are not runs.
	ended, otherJobs []*batchv1.Job
}

func newView(obs Observation) *view {
	v := &view{Observation: obs, cronJob: obs.CronJob, listedActive: map[types.UID]bool{}}
	for i := range v.cronJob.Status.Active {
		v.listedActive[v.cronJob.Status.Active[i].UID] = true
	}
	for _, job := range slices.SortedFunc(slices.Values(obs.Jobs), ByAge) {
		switch {
		case end(job) != "":
			v.ended = append(v.ended, job)
		case jobcore.IsHeld(job):
			v.held = append(v.held, job)
		case v.isTerminatingReplaced(job):
		case v.isRun(job):
			v.running = append(v.running, job)
		case job.DeletionTimestamp == nil:
			v.otherJobs = append(v.otherJobs, job)
		}
	}
	return v
}

// isTerminatingReplaced reports whether a Job is being deleted under the policy Replace, and so no longer counts as a run.
// Under the other policies it counts until it is gone.
func (v *view) isTerminatingReplaced(job *batchv1.Job) bool {
	return job.DeletionTimestamp != nil && v.cronJob.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent
}

func (v *view) isRun(job *batchv1.Job) bool {
	_, scheduled := dueTime(v.cronJob, job)
	return scheduled || IsManual(job) || v.listedActive[job.UID]
}

// IsManual reports whether a user created the Job from a CronJob.
func IsManual(job *batchv1.Job) bool { return job.Annotations[instantiateAnnotation] == manually }

// ByAge orders Jobs by creation. That is known to the second only; of Jobs that were held since their creation, the
// annotation has it to the nanosecond.
func ByAge(a, b *batchv1.Job) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Annotations[jobcore.HeldAnnotation], b.Annotations[jobcore.HeldAnnotation]), cmp.Compare(a.Name, b.Name))
}

// end is the type of the condition that finished a Job; empty if it is not finished.
func end(job *batchv1.Job) batchv1.JobConditionType {
	if c := jobcore.End(job); c != nil {
		return c.Type
	}
	return ""
}

// heldLayout has a fixed width, so that times sort as text.
const heldLayout = "2006-01-02T15:04:05.000000000Z"

// SuspendRun suspends a run and marks it as held since now.
func SuspendRun(job *batchv1.Job, now time.Time) {
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[jobcore.HeldAnnotation] = now.UTC().Format(heldLayout)
	job.Spec.Suspend = ptr.To(true)
}

// ResumeRun resumes a held run and removes the mark.
func ResumeRun(job *batchv1.Job) {
	delete(job.Annotations, jobcore.HeldAnnotation)
	job.Spec.Suspend = ptr.To(false)
}
