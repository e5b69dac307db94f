package job

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Annotations of the pods of a Job with a limit for failed pods. They record the failures before a pod, so that the
// delay after the next failure is right although the failed pods are deleted. The pods of a Job with backoffLimitPerIndex
// have Kubernetes' own annotation for that.
const (
	// FailuresBefore is how many pods had failed in a row when this one was created.
	FailuresBefore = "stint.dev/failures-before"
	// LastFailure is when the last of them failed (RFC 3339).
	LastFailure = "stint.dev/last-failure"
)

// backoffRecord is what the annotations of a pod say about failures before it.
type backoffRecord struct {
	failures int
	// until is when the last of them ended, in whole seconds. Pods that ended later are not in the record.
	until time.Time
}

func backoffRecordOf(p *corev1.Pod) backoffRecord {
	count, ok := p.Annotations[FailuresBefore]
	if !ok {
		return backoffRecord{}
	}
	n, err := strconv.ParseInt(count, 10, 32)
	until, timeErr := time.Parse(time.RFC3339, p.Annotations[LastFailure])
	if err != nil || timeErr != nil || n < 1 {
		return backoffRecord{}
	}
	return backoffRecord{int(n), until}
}

// newer returns the record that reaches further or, if both reach as far, has more failures.
func (r backoffRecord) newer(other backoffRecord) backoffRecord {
	if cmp.Or(r.until.Compare(other.until), cmp.Compare(r.failures, other.failures)) < 0 {
		return other
	}
	return r
}

// covers reports whether a failure at that time is in the record.
func (r backoffRecord) covers(at time.Time) bool { return !at.Truncate(time.Second).After(r.until) }

// withBackoffRecord annotates new pods with the failures before them.
func withBackoffRecord(v view, pods []*corev1.Pod) []*corev1.Pod {
	if v.FailedPodsLimit == nil || perIndex(v.job) {
		return pods
	}
	n, last := failuresInARow(v)
	for _, p := range pods {
		delete(p.Annotations, FailuresBefore)
		delete(p.Annotations, LastFailure)
		if n > 0 {
			p.Annotations[FailuresBefore] = strconv.Itoa(n)
			p.Annotations[LastFailure] = last.UTC().Format(time.RFC3339)
		}
	}
	return pods
}

// limitFailedPods adds the failed pods beyond the limit to DeleteFailed, unless the delay still depends on them: if no
// pod that stays has their failure in its backoff record and none has succeeded since.
func (d *Decision) limitFailedPods(v view, end *Verdict) {
	if v.FailedPodsLimit == nil || v.job.DeletionTimestamp != nil {
		return
	}
	old, kept := splitByLimit(v.FailedPods, *v.FailedPodsLimit)
	if perIndex(v.job) || end != nil && end.Stored {
		d.DeleteFailed = old
		return
	}
	latest, history := latestBackoffRecord(v, kept), recorded(v)
	for _, p := range old {
		if latest.covers(EndedAt(p)) || !history.counts(p) {
			d.DeleteFailed = append(d.DeleteFailed, p)
		}
	}
	// The new pods record the failures of the others, which can then be deleted.
	d.RequeueFair = d.RequeueFair || len(d.Create) > 0 && len(d.DeleteFailed) < len(old)
}

// latestBackoffRecord returns the newest record among the pods that stay.
func latestBackoffRecord(v view, kept []*corev1.Pod) (r backoffRecord) {
	for _, p := range slices.Concat(v.owned, kept) {
		if p.DeletionTimestamp == nil && !v.InFlight.Deleted.Has(p.UID) {
			r = r.newer(backoffRecordOf(p))
		}
	}
	return r
}

// splitByLimit separates the newest n pods from the others. Both lists have the oldest first.
func splitByLimit(pods []*corev1.Pod, n int) (old, kept []*corev1.Pod) {
	pods = slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return cmp.Or(EndedAt(a).Compare(EndedAt(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	surplus := max(0, len(pods)-n)
	return pods[:surplus], pods[surplus:]
}

// LimitOfFailedPods returns how many failed pods of job are kept, nil for all.
func (s Settings) LimitOfFailedPods(job *batchv1.Job) *int {
	asked, _ := ReadAnnotations(job.Annotations, AnnotationsPath)
	return s.overriddenBy(asked).FailedPodsLimit
}

// ExcessFailedPods returns the failed pods of a finished Job beyond its limit. No delay depends on them any more.
func (s Settings) ExcessFailedPods(job *batchv1.Job, failed []*corev1.Pod) []*corev1.Pod {
	limit := s.LimitOfFailedPods(job)
	if limit == nil {
		return nil
	}
	old, _ := splitByLimit(failed, *limit)
	return old
}

// CountedAsFailed reports whether p belongs into Observation.FailedPods if its Job has a limit: it has failed, its tracking
// finalizer has been removed, and it has not been deleted.
func CountedAsFailed(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed && !HasFinalizer(p) && p.DeletionTimestamp == nil
}
