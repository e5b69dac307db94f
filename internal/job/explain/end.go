package explain

import (
	"fmt"
	"math"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/job"
)

// because puts numbers to the reason of an end.
func (e *explainer) because(reason, message string) string {
	if why := e.numbers(reason); why != "" {
		return reason + ": " + why
	}
	if message == "" {
		return reason
	}
	if reason == "" {
		return message
	}
	return reason + ": " + lowerFirst(message)
}

func (e *explainer) numbers(reason string) string {
	switch reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		if limit := job.FailureLimit(e.Job); limit != nil {
			return e.overLimit(*limit)
		}
	case batchv1.JobReasonDeadlineExceeded:
		if seconds := e.Job.Spec.ActiveDeadlineSeconds; seconds != nil {
			return fmt.Sprintf("it was active for longer than activeDeadlineSeconds, %s", inSeconds(*seconds))
		}
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		n := e.FailedIndexes.Count()
		return fmt.Sprintf("%s failed (%s), maxFailedIndexes is %d", counted(n, "index"), abridged(e.FailedIndexes),
			ptr.Deref(e.Job.Spec.MaxFailedIndexes, 0))
	case batchv1.JobReasonFailedIndexes:
		n := e.FailedIndexes.Count()
		return fmt.Sprintf("%s of %d failed: %s", counted(n, "index"), ptr.Deref(e.Job.Spec.Completions, 0), abridged(e.FailedIndexes))
	case batchv1.JobReasonCompletionsReached:
		if e.Job.Spec.Completions != nil {
			return fmt.Sprintf("%d of %d completions", e.Succeeded, *e.Job.Spec.Completions)
		}
		return counted(int(e.Succeeded), "pod") + " succeeded"
	}
	return ""
}

func (e *explainer) overLimit(limit int32) string {
	if e.Failed > limit {
		return fmt.Sprintf("%s failed, backoffLimit is %d", counted(int(e.Failed), "pod"), limit)
	}
	return fmt.Sprintf("containers were restarted too often, backoffLimit is %d", limit)
}

func inSeconds(n int64) string {
	return spell(time.Duration(min(n, math.MaxInt64/int64(time.Second))) * time.Second)
}

// rangesTold bounds the indexes that are told.
const rangesTold = 5

func abridged(x job.Indexes) string {
	if len(x) <= rangesTold {
		return x.String()
	}
	return x[:rangesTold].String() + ",…"
}
