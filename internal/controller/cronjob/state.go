package cronjob

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/cronjob"
)

// state is what the controller keeps of a CronJob between two syncs. If it is lost, times before a change of the schedule
// count as due by the new schedule, and events that were recorded already are recorded once more.
type state struct {
	// lastSchedule is the schedule that the handlers observed last, nil if none; since is when they observed its last change.
	lastSchedule *scheduleAndZone
	since        time.Time
	// events are those of the last decision: an event is recorded only if the last decision did not have it.
	events []core.Event
	// unlisted is a Job that was created and that the status does not list yet; nil if there is none. It counts as a run until the
	// status is written, even if it is deleted before: otherwise its run would start again.
	unlisted *batchv1.Job
}

// scheduleAndZone are the fields of the spec that determine due times.
type scheduleAndZone struct{ schedule, zone string }

func scheduleAndZoneOf(cj *batchv1.CronJob) scheduleAndZone {
	return scheduleAndZone{cj.Spec.Schedule, ptr.Deref(cj.Spec.TimeZone, "")}
}

// observeSchedule records the schedule of a CronJob from the handlers, and reports whether its schedule changed. A change while the CronJob is
// suspended does not set since: times missed then are due by the schedule in force when it is resumed, as after a restart
// of the controller.
func (s *state) observeSchedule(was, is *batchv1.CronJob) (changed bool) {
	current := scheduleAndZoneOf(is)
	changed = was != nil && scheduleAndZoneOf(was) != current
	if changed && !ptr.Deref(is.Spec.Suspend, false) {
		s.since = time.Now()
	}
	s.lastSchedule = &current
	return changed
}

// scheduleSince returns since when the schedule of cj is in force; zero if no change of it was observed. If the handlers have
// not observed this schedule yet, it is in force from now on: cj, from the cache or the server, may be ahead of them.
func (s *state) scheduleSince(cj *batchv1.CronJob) time.Time {
	if s.lastSchedule != nil && *s.lastSchedule != scheduleAndZoneOf(cj) {
		return time.Now()
	}
	return s.since
}

// newEvents returns the events that the last decision did not have, and keeps all for the next call.
func (s *state) newEvents(events []core.Event) (added []core.Event) {
	for _, e := range events {
		if !slices.Contains(s.events, e) {
			added = append(added, e)
		}
	}
	s.events = events
	return added
}
