package explain

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// events are those about a Job and its pods.
type events []corev1.Event

// last returns the newest event about an object, of a type and, unless that is empty, a reason; nil for none.
func (list events) last(object types.UID, kind, reason string) *corev1.Event {
	var last *corev1.Event
	for i := range list {
		event := &list[i]
		matches := event.InvolvedObject.UID == object && event.Type == kind && (reason == "" || event.Reason == reason)
		if matches && (last == nil || isNewer(event, last)) {
			last = event
		}
	}
	return last
}

// newest returns the newest event about an object, nil for none.
func (list events) newest(object types.UID) *corev1.Event {
	warning, normal := list.last(object, corev1.EventTypeWarning, ""), list.last(object, corev1.EventTypeNormal, "")
	if warning == nil || normal != nil && isNewer(normal, warning) {
		return normal
	}
	return warning
}

// refusal returns since when the API server refuses the pods of a Job, and its last error. The time is nil if a pod was
// created after that.
func (list events) refusal(job types.UID) (since *metav1.Time, message string) {
	refused := list.last(job, corev1.EventTypeWarning, "FailedCreate")
	if refused == nil {
		return nil, ""
	}
	made := list.last(job, corev1.EventTypeNormal, "SuccessfulCreate")
	if made != nil && !lastSeen(made).Before(lastSeen(refused)) {
		return nil, ""
	}
	return timeOrNil(firstSeen(refused)), refused.Message
}

// isNewer reports whether an event happened after another about the same object. Its name ends in its first time, in
// nanoseconds.
func isNewer(event, other *corev1.Event) bool {
	return cmp.Or(lastSeen(event).Compare(lastSeen(other)), cmp.Compare(event.Name, other.Name)) > 0
}

// lastSeen is when an event last happened. Which field has that time depends on the API by which it was recorded.
func lastSeen(e *corev1.Event) time.Time {
	times := []time.Time{e.LastTimestamp.Time, e.EventTime.Time, e.CreationTimestamp.Time}
	if e.Series != nil {
		times = append(times, e.Series.LastObservedTime.Time)
	}
	return slices.MaxFunc(times, time.Time.Compare)
}

func firstSeen(e *corev1.Event) time.Time {
	for _, t := range []time.Time{e.FirstTimestamp.Time, e.EventTime.Time} {
		if !t.IsZero() {
			return t
		}
	}
	return e.CreationTimestamp.Time
}
