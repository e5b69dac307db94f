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
	// RequeueAfterStatus reports that only the status is to be written now, and the rest decided in the next sync: a Job showed a
	// due time that status.lastScheduleTime lacks. If that Job were deleted first, its run would start again.
	RequeueAfterStatus bool
	// Suspend, Resume and Replace go first: if there are any, only these are done, and the rest is decided in the next sync.
	// Suspended runs are held until another has ended; replaced ones are deleted.
	Suspend, Resume, Replace []*batchv1.Job
	// Start is the Job of Due to be created; nil for none. A Job of that name that the CronJob controls already counts as created.
	Start *batchv1.Job
	Due   time.Time
	// Events are recorded once the status is written.
	Events []Event
	// DeleteHistory are finished Jobs beyond the history limits. They are deleted once their end is in the status.
	DeleteHistory []*batchv1.Job
	// RequeueAt is the next due time; zero if there is none.
	RequeueAt time.Time

	status batchv1.CronJobStatus
}

// ReplansAfter reports whether runs are to be suspended, resumed or replaced before the rest can be decided.
func (d *Decision) ReplansAfter() bool { return len(d.Suspend)+len(d.Resume)+len(d.Replace) > 0 }

// Status returns the status to write. started is the Job of Due, created or found; nil if there is none.
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

// Event is an API event of the CronJob. Equal values are the same event, decided again.
type Event struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type    string
	Reason  string
	Message string
	// About is the due time that the event is about; zero if it is about none.
	About time.Time
}

func (d *Decision) addEvent(kind, reason, message string) {
	d.Events = append(d.Events, Event{Type: kind, Reason: reason, Message: message})
}
