package explain

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

func progress(a *job.Assessment) stintv1.JobProgress {
	spec := &a.Job.Spec
	p := stintv1.JobProgress{
		Active:        int32(len(a.Active)),
		Ready:         int32(a.Ready),
		Terminating:   int32(len(a.Terminating)),
		Succeeded:     a.Succeeded,
		Failed:        a.Failed,
		Completions:   spec.Completions,
		Parallelism:   ptr.Deref(spec.Parallelism, 1),
		FailedIndexes: int32(a.FailedIndexes.Count()),
	}
	perIndex := spec.BackoffLimitPerIndex != nil
	if spec.BackoffLimit != nil || !perIndex {
		p.FailureLimit = job.FailureLimit(a.Job)
	}
	if perIndex {
		p.MaxFailedIndexes = spec.MaxFailedIndexes
	}
	return p
}

// maxFailures is how many failed pods an explanation has.
const maxFailures = 3

// newestFailures returns the last failures, newest first. Of results with the same time, the later in the list is newer.
func newestFailures(results []stintv1.PodResult) []stintv1.PodResult {
	failures := slices.DeleteFunc(slices.Clone(results), func(r stintv1.PodResult) bool { return r.Phase != corev1.PodFailed })
	slices.Reverse(failures)
	slices.SortStableFunc(failures, func(a, b stintv1.PodResult) int { return endOf(b).Compare(endOf(a)) })
	return failures[:min(len(failures), maxFailures)]
}

func endOf(r stintv1.PodResult) time.Time {
	for _, t := range []*metav1.Time{r.FinishedAt, r.StartedAt, r.CreatedAt} {
		if t != nil {
			return t.Time
		}
	}
	return time.Time{}
}
