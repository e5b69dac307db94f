package cronjob

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/cronjob"
)

// state is what the controller keeps of a CronJob between two syncs. Where it is lost, the times before a change of the
// schedule count as if they had been due by the new one, and what lasts is told once more.
type state struct {
	// lastSchedule is the timetable that the handlers were told of last, nil if of none, and since is when that changed.
	lastSchedule *scheduleAndZone
	since        time.Time
	// events are those of the last decision, so that what lasts is told once.
	events []core.Event
}

// scheduleAndZone is what makes times due.
type scheduleAndZone struct{ schedule, zone string }

func scheduleAndZoneOf(cj *batchv1.CronJob) scheduleAndZone {
	return scheduleAndZone{cj.Spec.Schedule, ptr.Deref(cj.Spec.TimeZone, "")}
}

// observeSchedule takes in what the handlers are told, and returns whether that is another timetable. A change during a suspension
// has no time: what was missed then counts by the schedule that is resumed, as it would after a restart of the controller.
func (s *state) observeSchedule(was, is *batchv1.CronJob) (changed bool) {
	told := scheduleAndZoneOf(is)
	changed = was != nil && scheduleAndZoneOf(was) != told
	if changed && !ptr.Deref(is.Spec.Suspend, false) {
		s.since = time.Now()
	}
	s.lastSchedule = &told
	return changed
}

// scheduleSince returns since when the timetable of cj is in force; zero if it was not seen to change. The informer may
// show, and the server answer, one that the handlers are not told of yet: until they are, that has just begun.
func (s *state) scheduleSince(cj *batchv1.CronJob) time.Time {
	if s.lastSchedule != nil && *s.lastSchedule != scheduleAndZoneOf(cj) {
		return time.Now()
	}
	return s.since
}

// news returns the events that the last decision did not have.
func (s *state) news(events []core.Event) (news []core.Event) {
	for _, e := range events {
		if !slices.Contains(s.events, e) {
			news = append(news, e)
		}
	}
	s.events = events
	return news
}
