package explain

import (
	"fmt"
	"math"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/job"
)

// reasons describes the reason of a Job's end with the numbers that led to it.
type reasons struct {
	job               *batchv1.Job
	succeeded, failed int32
	failedIndexes     job.Indexes
}

func newReasons(a *job.Assessment) reasons {
	return reasons{job: a.Job, succeeded: a.Succeeded, failed: a.Failed, failedIndexes: a.FailedIndexes}
}

func (r reasons) because(reason, message string) string {
	if why := r.numbers(reason); why != "" {
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

func (r reasons) numbers(reason string) string {
	spec := &r.job.Spec
	switch reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		if limit := job.FailureLimit(r.job); limit != nil {
			return r.overLimit(*limit)
		}
	case batchv1.JobReasonDeadlineExceeded:
		if seconds := spec.ActiveDeadlineSeconds; seconds != nil {
			return fmt.Sprintf("it was active for longer than activeDeadlineSeconds, %s", inSeconds(*seconds))
		}
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		n := r.failedIndexes.Count()
		return fmt.Sprintf("%s failed (%s), maxFailedIndexes is %d", counted(n, "index"), abbreviated(r.failedIndexes),
			ptr.Deref(spec.MaxFailedIndexes, 0))
	case batchv1.JobReasonFailedIndexes:
		n := r.failedIndexes.Count()
		return fmt.Sprintf("%s of %d failed: %s", counted(n, "index"), ptr.Deref(spec.Completions, 0), abbreviated(r.failedIndexes))
	case batchv1.JobReasonCompletionsReached:
		if spec.Completions != nil {
			return fmt.Sprintf("%d of %d completions", r.succeeded, *spec.Completions)
		}
		return counted(int(r.succeeded), "pod") + " succeeded"
	}
	return ""
}

func (r reasons) overLimit(limit int32) string {
	if r.failed > limit {
		return fmt.Sprintf("%s failed, backoffLimit is %d", counted(int(r.failed), "pod"), limit)
	}
	return fmt.Sprintf("containers were restarted too often, backoffLimit is %d", limit)
}

func inSeconds(n int64) string {
	return humanDuration(time.Duration(min(n, math.MaxInt64/int64(time.Second))) * time.Second)
}
