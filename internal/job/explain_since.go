package job

import (
	"encoding/json"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (e *explainer) deletedAt() *metav1.Time  { return e.job.DeletionTimestamp }
func (e *explainer) createdAt() *metav1.Time  { return moment(e.job.CreationTimestamp.Time) }
func (e *explainer) finishedAt() *metav1.Time { return moment(End(e.job).LastTransitionTime.Time) }

// settledAt is when the verdict was stored.
func (e *explainer) settledAt() *metav1.Time {
	if !e.end.Stored {
		return nil
	}
	return moment(condition(e.job.Status.Conditions, e.end.Condition).LastTransitionTime.Time)
}

func (e *explainer) heldSince() *metav1.Time {
	since, err := time.Parse(time.RFC3339Nano, e.job.Annotations[HeldAnnotation])
	if err != nil {
		return e.createdAt()
	}
	return moment(since.Truncate(time.Second))
}

func (e *explainer) suspendedSince() *metav1.Time {
	if c := condition(e.job.Status.Conditions, batchv1.JobSuspended); isTrue(c) {
		return moment(c.LastTransitionTime.Time)
	}
	_, since := lastWriter(e.job, "f:spec", "f:suspend")
	return since
}

func (e *explainer) suspendedBy() string {
	by, _ := lastWriter(e.job, "f:spec", "f:suspend")
	return by
}

func (e *explainer) pausedSince() *metav1.Time {
	_, since := lastWriter(e.job, "f:spec", "f:parallelism")
	return since
}

func (e *explainer) startedAt() *metav1.Time {
	switch {
	case e.job.Status.StartTime != nil:
		return e.job.Status.StartTime
	case len(e.owned) > 0 && e.start != nil:
		return e.start
	}
	return e.createdAt()
}

func (e *explainer) delayedSince() *metav1.Time {
	if perIndex(e.job) {
		last := time.Time{}
		for _, i := range e.waitingIndexes() {
			last = later(last, EndedAt(e.retained[i]))
		}
		return moment(last)
	}
	_, last := failuresInARow(e.view)
	return moment(last)
}

func (e *explainer) terminatingSince() *metav1.Time {
	first := time.Time{}
	for _, p := range e.terminating {
		first = earlier(first, ToldToEndAt(p))
	}
	return moment(first)
}

// took is how long the Job worked.
func (e *explainer) took() string {
	if e.job.Status.StartTime == nil {
		return ""
	}
	return spell(End(e.job).LastTransitionTime.Sub(e.job.Status.StartTime.Time))
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
