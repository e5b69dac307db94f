package explain

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/job"
)

// verdict is how the Job will end, once its pods have terminated and are counted.
type verdict struct {
	*job.Verdict
	job     *batchv1.Job
	reasons reasons
	// living is the number of pods that are still to terminate, uncounted of those that are still to be counted.
	living, uncounted int
}

func newVerdict(a *job.Assessment) verdict {
	return verdict{
		Verdict: a.Verdict, job: a.Job, reasons: newReasons(a),
		living: len(a.Active) + len(a.Terminating), uncounted: len(a.Uncounted),
	}
}

func (v verdict) applies() bool { return v.Verdict != nil }

// since is when the verdict was stored.
func (v verdict) since() *metav1.Time {
	if !v.Stored {
		return nil
	}
	return timeOrNil(condition(v.job, v.Condition).LastTransitionTime.Time)
}

func (v verdict) summarySuccess() string {
	return "has succeeded: " + v.reasons.because(v.Reason, v.Message) + "; it is complete once " + v.outstanding()
}

func (v verdict) summaryFailure() string {
	return "fails: " + v.reasons.because(v.Reason, v.Message) + "; it ends once " + v.outstanding()
}

func (v verdict) outstanding() string {
	switch {
	case v.living > 0 && v.Stored:
		return counted(v.living, "pod") + " " + verb(v.living, "has", "have") + " ended"
	case v.uncounted > 0:
		return counted(v.uncounted, "ended pod") + " " + verb(v.uncounted, "is", "are") + " counted"
	}
	return "its status is written"
}
