package explain

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// end is how a finished Job has ended.
type end struct {
	job     *batchv1.Job
	reasons reasons
}

func (e end) applies() bool       { return job.Finished(e.job) }
func (e end) isComplete() bool    { return e.applies() && job.End(e.job).Type == batchv1.JobComplete }
func (e end) isFailed() bool      { return e.applies() && job.End(e.job).Type == batchv1.JobFailed }
func (e end) since() *metav1.Time { return timeOrNil(job.End(e.job).LastTransitionTime.Time) }

func (e end) summaryComplete() string {
	text := "is complete" + e.took()
	if c := job.End(e.job); c.Reason == batchv1.JobReasonSuccessPolicy {
		text += ", by its success policy: " + lowerFirst(c.Message)
	}
	return text
}

func (e end) summaryFailed() string {
	c := job.End(e.job)
	return "has failed" + e.took() + ": " + e.reasons.because(c.Reason, c.Message)
}

// took says how long the Job was active; it is empty if the Job never started.
func (e end) took() string {
	if e.job.Status.StartTime == nil {
		return ""
	}
	return " after " + humanDuration(job.End(e.job).LastTransitionTime.Sub(e.job.Status.StartTime.Time))
}

// stays reports whether the Job is finished and no controller will delete it.
func (e end) stays() bool { return e.applies() && e.job.Spec.TTLSecondsAfterFinished == nil }

func (e end) step() []stintv1.JobStep {
	ended := job.End(e.job).LastTransitionTime
	if ttl := e.job.Spec.TTLSecondsAfterFinished; ttl != nil && *ttl >= 0 && !ended.IsZero() {
		return stepAt(ended.Add(time.Duration(*ttl)*time.Second), "is deleted with its pods (ttlSecondsAfterFinished)")
	}
	return step("stays until it is deleted")
}
