package scheduledjob

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Event is an API event of the ScheduledJob.
type Event struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type    string
	Reason  string
	Message string
}

// events are recorded in this order.
type events []Event

func (e *events) addEvent(reason, format string, args ...any) {
	*e = append(*e, Event{corev1.EventTypeNormal, reason, fmt.Sprintf(format, args...)})
}

func (e *events) addWarning(reason, format string, args ...any) {
	*e = append(*e, Event{corev1.EventTypeWarning, reason, fmt.Sprintf(format, args...)})
}
