package model_test

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// This file decides from the ledger whether a Job may finish, and how.

func (l *ledger) pastDeadline(j *batchv1.Job) bool {
	if j.Spec.ActiveDeadlineSeconds == nil || suspended(j) {
		return false
	}
	start := j.CreationTimestamp.Time
	if j.Status.StartTime != nil {
		start = j.Status.StartTime.Time
	}
	return !time.Now().Before(start.Add(time.Duration(*j.Spec.ActiveDeadlineSeconds) * time.Second))
}

// reasonsToFail are all reasons for which a Job may fail.
var reasonsToFail = []string{batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonDeadlineExceeded, batchv1.JobReasonPodFailurePolicy,
	batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonFailedIndexes, dependencyFailed, pendingTimeout}

// mustFail reports whether the Job has any of these reasons to fail.
func (l *ledger) mustFail(j *batchv1.Job) bool {
	return slices.ContainsFunc(reasonsToFail, func(why string) bool { return l.justified(j, why) })
}

func (l *ledger) justified(j *batchv1.Job, why string) bool {
	switch why {
	case batchv1.JobReasonCompletionsReached:
		return l.completed(j)
	case batchv1.JobReasonSuccessPolicy:
		return criteriaMet(j, l.succeededIndexes(j))
	case batchv1.JobReasonBackoffLimitExceeded:
		limit := int(ptr.Deref(j.Spec.BackoffLimit, 6))
		return l.failures(j) > limit || l.restarts(j) >= max(limit, 1)
	case batchv1.JobReasonDeadlineExceeded:
		return l.pastDeadline(j)
	case batchv1.JobReasonPodFailurePolicy:
		return slices.ContainsFunc(l.podsOf(j), func(p *corev1.Pod) bool {
			return l.everFailed(j, p) && judged(j, p) == batchv1.PodFailurePolicyActionFailJob
		})
	case dependencyFailed:
		return l.mayFailByDependency(j)
	case pendingTimeout:
		return annotatedNumber(j, pendingTimeoutSeconds) > 0 // Perhaps no pod can be created; the ledger does not record for how long.
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		return j.Spec.MaxFailedIndexes != nil && l.failedIndexes(j) > int(*j.Spec.MaxFailedIndexes)
	case batchv1.JobReasonFailedIndexes:
		failed := l.failedIndexes(j)
		return failed > 0 && failed+len(l.succeededIndexes(j)) >= int(*j.Spec.Completions)
	}
	return false
}

func (l *ledger) completed(j *batchv1.Job) bool {
	succeeded := 0
	for _, p := range l.podsOf(j) {
		if p.Status.Phase == corev1.PodSucceeded {
			succeeded++
		}
	}
	switch {
	case j.Spec.Completions == nil:
		return succeeded > 0
	case indexed(j):
		return len(l.succeededIndexes(j)) >= int(*j.Spec.Completions)
	}
	return succeeded >= int(*j.Spec.Completions)
}

// failures returns how many failed pods count towards the backoffLimit.
func (l *ledger) failures(j *batchv1.Job) (n int) {
	for _, p := range l.podsOf(j) {
		f := l.fates[p.UID]
		if l.everFailed(j, p) && (!f.discarded || f.wasted) && judged(j, p) != batchv1.PodFailurePolicyActionIgnore {
			n++
		}
	}
	return n
}

func (l *ledger) restarts(j *batchv1.Job) (n int) {
	if j.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return -1
	}
	for _, p := range l.podsOf(j) {
		for _, c := range p.Status.ContainerStatuses {
			n += int(c.RestartCount)
		}
	}
	return n
}

func (l *ledger) mayHaveFailed(j *batchv1.Job, index int) bool {
	failures := 0
	for _, p := range l.podsOf(j) {
		if indexOf(p) != index || !l.everFailed(j, p) {
			continue
		}
		switch judged(j, p) {
		case batchv1.PodFailurePolicyActionFailIndex:
			return true
		case batchv1.PodFailurePolicyActionIgnore:
		default:
			failures++
		}
	}
	return failures > int(*j.Spec.BackoffLimitPerIndex)
}

// succeededIndexes returns the indexes of pods that have succeeded.
func (l *ledger) succeededIndexes(j *batchv1.Job) map[int]bool {
	set := map[int]bool{}
	for _, p := range l.podsOf(j) {
		if i := indexOf(p); p.Status.Phase == corev1.PodSucceeded && i >= 0 && i < int(*j.Spec.Completions) {
			set[i] = true
		}
	}
	return set
}

// failedIndexes returns how many indexes have more failures than backoffLimitPerIndex allows, or a pod that fails its
// index.
func (l *ledger) failedIndexes(j *batchv1.Job) (n int) {
	if j.Spec.BackoffLimitPerIndex == nil {
		return 0
	}
	for i := range int(*j.Spec.Completions) {
		if l.mayHaveFailed(j, i) {
			n++
		}
	}
	return n
}
