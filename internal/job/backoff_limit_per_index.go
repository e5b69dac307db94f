package job

import (
	"math"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func perIndex(job *batchv1.Job) bool { return job.Spec.BackoffLimitPerIndex != nil }

// pastMaxFailedIndexes fails a Job with more failed indexes than spec.maxFailedIndexes.
func pastMaxFailedIndexes(v view) *Verdict {
	limit := v.job.Spec.MaxFailedIndexes
	if limit == nil || v.failedIndexes.Count() <= int(*limit) {
		return nil
	}
	return failure(batchv1.JobReasonMaxFailedIndexesExceeded,
		"Job has exceeded the specified maximal number of failed indexes")
}

// pastBackoffLimitPerIndex fails a Job in which every index has ended and at least one has failed.
func pastBackoffLimitPerIndex(v view) *Verdict {
	failed := v.failedIndexes.Count()
	if failed == 0 || failed+v.done.Count() < v.completions() {
		return nil
	}
	return failure(batchv1.JobReasonFailedIndexes, "Job has failed indexes")
}

// storedFailedIndexes returns the indexes that the persisted status calls failed.
func storedFailedIndexes(v view) Indexes {
	if v.job.Status.FailedIndexes == nil {
		return nil
	}
	return ParseIndexes(*v.job.Status.FailedIndexes, v.completions())
}

// newlyFailedIndexes returns the indexes that have failed for good, by the failure of a pod with its finalizer.
func newlyFailedIndexes(v view) Indexes {
	var spent []int
	for _, p := range v.owned {
		if v.tracked(p) && v.countable(p) && failed(v.job, p) && exhaustsIndex(v.job, p) {
			spent = append(spent, IndexOf(p))
		}
	}
	return Indexes(nil).With(spent...)
}

// exhaustsIndex reports whether the failure of p fails its index: by a FailIndex rule or the backoffLimitPerIndex.
func exhaustsIndex(job *batchv1.Job, p *corev1.Pod) bool {
	m := matchFailurePolicy(job, p)
	if m.action == batchv1.PodFailurePolicyActionFailIndex {
		return true
	}
	return m.counts() && failuresBefore(p) >= *job.Spec.BackoffLimitPerIndex
}

// lastFailedPodsByIndex returns, for each index that needs a new pod, its last failed pod. The new pod takes over the count of
// failures from it, which is stored nowhere else. So the failed pod keeps its finalizer until the new pod exists.
func lastFailedPodsByIndex(v view) map[int]*corev1.Pod {
	taken := v.done.Union(v.failedIndexes).With(indexesOf(v.active)...)
	last := map[int]*corev1.Pod{}
	for _, p := range v.owned {
		i := IndexOf(p)
		if !v.tracked(p) || !v.countable(p) || !failed(v.job, p) || taken.Has(i) {
			continue
		}
		if other := last[i]; other == nil || failedLater(p, other) {
			last[i] = p
		}
	}
	return last
}

// failedLater compares the counts of failures first, as times may mislead: a deleted pod whose status has no end time
// seems to have ended when it was deleted.
func failedLater(p, other *corev1.Pod) bool {
	if before, beforeOther := allFailuresBefore(p), allFailuresBefore(other); before != beforeOther {
		return before > beforeOther
	}
	return !EndedAt(p).Before(EndedAt(other))
}

// indexDelay returns how long the next pod of an index is delayed after last, its last failed pod; 0 if last is nil.
func indexDelay(v view, last *corev1.Pod) time.Duration {
	if last == nil {
		return 0
	}
	return v.delayLeft(int(allFailuresBefore(last))+1, EndedAt(last))
}

// countIndexFailures records in the annotations of a new pod how often its index has failed.
func countIndexFailures(job *batchv1.Job, annotations map[string]string, last *corev1.Pod) {
	counted, ignored := int32(0), int32(0)
	if last != nil {
		counted, ignored = failuresBefore(last), ignoredBefore(last)
		if matchFailurePolicy(job, last).counts() {
			counted++
		} else {
			ignored++
		}
	}
	annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(int(counted))
	if ignored > 0 {
		annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = strconv.Itoa(int(ignored))
	}
}

// failuresBefore is how many pods of its index failed before p.
func failuresBefore(p *corev1.Pod) int32 {
	return countIn(p, batchv1.JobIndexFailureCountAnnotation)
}

func ignoredBefore(p *corev1.Pod) int32 {
	return countIn(p, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

func allFailuresBefore(p *corev1.Pod) int64 {
	return int64(failuresBefore(p)) + int64(ignoredBefore(p))
}

func countIn(p *corev1.Pod, annotation string) int32 {
	n, err := strconv.ParseInt(p.Annotations[annotation], 10, 64)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return int32(n)
}
