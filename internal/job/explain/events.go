package explain

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// lastEvent returns the newest event about an object, of a type and, unless that is empty, a reason.
func (e *explainer) lastEvent(object types.UID, kind, reason string) *corev1.Event {
	var last *corev1.Event
	for i := range e.about.Events {
		event := &e.about.Events[i]
		matches := event.InvolvedObject.UID == object && event.Type == kind && (reason == "" || event.Reason == reason)
		if matches && (last == nil || lastSeen(event).After(lastSeen(last))) {
			last = event
		}
	}
	return last
}

// lastSeen is when an event happened last; each way to write events has its own field for that.
func lastSeen(e *corev1.Event) time.Time {
	last := later(e.LastTimestamp.Time, e.EventTime.Time)
	if e.Series != nil {
		last = later(last, e.Series.LastObservedTime.Time)
	}
	return later(last, e.CreationTimestamp.Time)
}

func firstSeen(e *corev1.Event) time.Time {
	for _, t := range []time.Time{e.FirstTimestamp.Time, e.EventTime.Time} {
		if !t.IsZero() {
			return t
		}
	}
	return e.CreationTimestamp.Time
}

// refusal is since when the server refuses the Job's pods, and what it says: as the controller remembers, else as the
// events tell. The time is nil where it does not.
func (e *explainer) refusal() (since *metav1.Time, message string) {
	if e.Refused != nil {
		return moment(e.Refused.Since), e.Refused.Message
	}
	if e.Create == 0 && !e.NoPodsBefore.After(e.Now) && !e.Foreign {
		return nil, ""
	}
	refused := e.lastEvent(e.Job.UID, corev1.EventTypeWarning, "FailedCreate")
	if refused == nil {
		return nil, ""
	}
	made := e.lastEvent(e.Job.UID, corev1.EventTypeNormal, "SuccessfulCreate")
	if made != nil && !lastSeen(made).Before(lastSeen(refused)) {
		return nil, ""
	}
	return moment(firstSeen(refused)), refused.Message
}

func (e *explainer) refusedSince() *metav1.Time {
	since, _ := e.refusal()
	return since
}
