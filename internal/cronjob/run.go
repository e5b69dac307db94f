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

// kubectl marks what it makes of a CronJob on demand.
const instantiateAnnotation, manually = "cronjob.kubernetes.io/instantiate", "manual"

// view is an observation whose Jobs are sorted out.
type view struct {
	Observation
	cronJob *batchv1.CronJob
	// listedActive are the runs that status.active lists.
	listedActive map[types.UID]bool
	// running are the runs that have not ended and are not held, oldest first. Held ones are, too.
	running, held []*batchv1.Job
	// ended are all Jobs that have, strangers all that have not and are no runs.
	ended, otherJobs []*batchv1.Job
}

func newView(obs Observation) *view {
	v := &view{Observation: obs, cronJob: obs.CronJob, listedActive: map[types.UID]bool{}}
	for i := range v.cronJob.Status.Active {
		v.listedActive[v.cronJob.Status.Active[i].UID] = true
	}
	for _, job := range slices.SortedFunc(slices.Values(obs.Jobs), byAge) {
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

// isTerminatingReplaced tells of a run that was replaced and takes its time to go. Under the other policies it counts until it is gone.
func (v *view) isTerminatingReplaced(job *batchv1.Job) bool {
	return job.DeletionTimestamp != nil && v.cronJob.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent
}

func (v *view) isRun(job *batchv1.Job) bool {
	_, scheduled := dueTime(v.cronJob, job)
	return scheduled || IsManual(job) || v.listedActive[job.UID]
}

// IsManual tells whether a person made the Job of a CronJob.
func IsManual(job *batchv1.Job) bool { return job.Annotations[instantiateAnnotation] == manually }

// byAge orders Jobs. Their creation is known to the second; of those that were held from the start, exactly.
func byAge(a, b *batchv1.Job) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Annotations[jobcore.HeldAnnotation], b.Annotations[jobcore.HeldAnnotation]), cmp.Compare(a.Name, b.Name))
}

// end is the condition that ended a Job; empty if it goes on.
func end(job *batchv1.Job) batchv1.JobConditionType {
	if c := jobcore.End(job); c != nil {
		return c.Type
	}
	return ""
}

// heldLayout sorts as text.
const heldLayout = "2006-01-02T15:04:05.000000000Z"

// SuspendRun makes a run wait.
func SuspendRun(job *batchv1.Job, now time.Time) {
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[jobcore.HeldAnnotation] = now.UTC().Format(heldLayout)
	job.Spec.Suspend = ptr.To(true)
}

// ResumeRun lets a run go on that was held.
func ResumeRun(job *batchv1.Job) {
	delete(job.Annotations, jobcore.HeldAnnotation)
	job.Spec.Suspend = ptr.To(false)
}
