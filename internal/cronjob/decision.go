package cronjob

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Decision is what is to be done.
type Decision struct {
	// RequeueAfterStatus tells that only the status is to be stored, and the rest decided anew: it tells of a due time of which, until
	// then, only a Job knows, to which anything may happen.
	RequeueAfterStatus bool
	// Suspend, Resume and Replace go first: if there are any, only these are done, and what they leave is decided anew.
	// Held runs wait, suspended; released ones go on; replaced ones are deleted.
	Suspend, Resume, Replace []*batchv1.Job
	// Start is the Job of Due to be created; nil for none. One of that name which the CronJob controls already is as good.
	Start *batchv1.Job
	Due   time.Time
	// Events are told once the status is written.
	Events []Event
	// DeleteHistory are Jobs that ended and are not kept. They are deleted once their end is in the status.
	DeleteHistory []*batchv1.Job
	// RequeueAt is the next due time; zero if there is none.
	RequeueAt time.Time

	status batchv1.CronJobStatus
}

// ReplansAfter tells that something is to be done before the rest can be decided.
func (d *Decision) ReplansAfter() bool { return len(d.Suspend)+len(d.Resume)+len(d.Replace) > 0 }

// Status is what to store after the Job for Due was created or found; nil if it was not.
func (d *Decision) Status(started *batchv1.Job) batchv1.CronJobStatus {
	s := *d.status.DeepCopy()
	if started == nil {
		return s
	}
	s.LastScheduleTime = &metav1.Time{Time: d.Due}
	listed := slices.ContainsFunc(s.Active, func(r corev1.ObjectReference) bool { return r.UID == started.UID })
	if !listed && end(started) == "" {
		s.Active = append(s.Active, reference(started))
	}
	return s
}

// Event is one to be told of the CronJob. Equal ones tell of the same thing.
type Event struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type    string
	Reason  string
	Message string
	// About is the due time that it tells of; zero if of none.
	About time.Time
}

func (d *Decision) addEvent(kind, reason, message string) {
	d.Events = append(d.Events, Event{Type: kind, Reason: reason, Message: message})
}
