package explain

import (
	"encoding/json"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/job"
)

func (e *explainer) deletedAt() *metav1.Time  { return e.Job.DeletionTimestamp }
func (e *explainer) createdAt() *metav1.Time  { return moment(e.Job.CreationTimestamp.Time) }
func (e *explainer) finishedAt() *metav1.Time { return moment(job.End(e.Job).LastTransitionTime.Time) }

// settledAt is when the verdict was stored.
func (e *explainer) settledAt() *metav1.Time {
	if !e.Verdict.Stored {
		return nil
	}
	return moment(condition(e.Job, e.Verdict.Condition).LastTransitionTime.Time)
}

func (e *explainer) heldSince() *metav1.Time {
	since, err := time.Parse(time.RFC3339Nano, e.Job.Annotations[job.HeldAnnotation])
	if err != nil {
		return e.createdAt()
	}
	return moment(since.Truncate(time.Second))
}

func (e *explainer) suspendedSince() *metav1.Time {
	if c := condition(e.Job, batchv1.JobSuspended); c != nil {
		return moment(c.LastTransitionTime.Time)
	}
	_, since := lastWriter(e.Job, "f:spec", "f:suspend")
	return since
}

func (e *explainer) suspendedBy() string {
	by, _ := lastWriter(e.Job, "f:spec", "f:suspend")
	return by
}

func (e *explainer) pausedSince() *metav1.Time {
	_, since := lastWriter(e.Job, "f:spec", "f:parallelism")
	return since
}

func (e *explainer) startedAt() *metav1.Time {
	switch {
	case e.Job.Status.StartTime != nil:
		return e.Job.Status.StartTime
	case len(e.Owned) > 0 && e.Start != nil:
		return e.Start
	}
	return e.createdAt()
}

func (e *explainer) delayedSince() *metav1.Time {
	return moment(e.Backoff.Since)
}

func (e *explainer) terminatingSince() *metav1.Time {
	first := time.Time{}
	for _, p := range e.Terminating {
		first = earlier(first, job.ToldToEndAt(p))
	}
	return moment(first)
}

// took is how long the Job worked.
func (e *explainer) took() string {
	if e.Job.Status.StartTime == nil {
		return ""
	}
	return spell(job.End(e.Job).LastTransitionTime.Sub(e.Job.Status.StartTime.Time))
}

// lastWriter tells who last wrote a field, and when, as far as managed fields have it. Those of the controllers, which
// only write statuses, are no answer to that.
func lastWriter(object metav1.Object, path ...string) (name string, at *metav1.Time) {
	for _, entry := range object.GetManagedFields() {
		newer := at == nil || entry.Time != nil && at.Before(entry.Time)
		if entry.Subresource == "" && entry.FieldsV1 != nil && newer && has(entry.FieldsV1.GetRawBytes(), path) {
			name, at = entry.Manager, entry.Time
		}
	}
	return name, at
}

func has(fields []byte, path []string) bool {
	if len(path) == 0 {
		return true
	}
	var set map[string]json.RawMessage
	if json.Unmarshal(fields, &set) != nil {
		return false
	}
	below, ok := set[path[0]]
	return ok && has(below, path[1:])
}

// condition returns the condition of the Job of that type if it is true, nil otherwise.
func condition(j *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	i := slices.IndexFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
	if i < 0 {
		return nil
	}
	return &j.Status.Conditions[i]
}

func perIndex(j *batchv1.Job) bool { return j.Spec.BackoffLimitPerIndex != nil }
