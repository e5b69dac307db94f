package cronjob

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/schedule"
)

const (
	// tooManyMissed is how many due times may be missed without a warning.
	tooManyMissed = 100
	// maxClockSkew is how far status.lastScheduleTime may be in the future without a warning.
	maxClockSkew = time.Minute
	// maxDeadline is the maximum of spec.startingDeadlineSeconds, so that it fits into a time.Duration.
	maxDeadline = int64(200 * 365 * 24 * 60 * 60)
)

// startDue finds the due time that is to start now: the latest that has had no run and has not missed its deadline.
func (v *view) startDue(d *Decision) {
	s, zone, ok := v.schedule(d)
	if !ok {
		return
	}
	after := v.handledUntil(d)
	d.RequeueAt, ok = s.Next(latest(after, v.Now))
	missed, due := s.Count(v.notTooLate(after), v.Now)
	switch {
	case missed > 0:
	case !ok:
		v.addWarning(d, time.Time{}, "InvalidSchedule", fmt.Sprintf("invalid schedule: %s : it is never due", v.cronJob.Spec.Schedule))
		return
	default:
		if n, last := s.Count(after, v.Now); n > 0 {
			v.addWarning(d, last, "MissSchedule", "Missed scheduled time to start a job: "+last.UTC().Format(time.RFC1123Z))
		}
		return
	}
	if missed > tooManyMissed {
		v.addWarning(d, due, "TooManyMissedTimes",
			"too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
	switch v.cronJob.Spec.ConcurrencyPolicy {
	case batchv1.ForbidConcurrent:
		if len(v.running)+len(v.held) > 0 {
			d.Events = append(d.Events, Event{corev1.EventTypeNormal, "JobAlreadyActive",
				"Not starting job because prior execution is running and concurrency policy is Forbid", due})
			return
		}
	case batchv1.ReplaceConcurrent:
		d.Replace = v.running
	}
	d.Start, d.Due = newJob(v.cronJob, s, due, zone), due
}

func (v *view) addWarning(d *Decision, about time.Time, reason, message string) {
	d.Events = append(d.Events, Event{corev1.EventTypeWarning, reason, message, about})
}

// handledUntil is the time up to which all due times have been handled.
func (v *view) handledUntil(d *Decision) time.Time {
	after := v.cronJob.CreationTimestamp.Time
	if last := d.status.LastScheduleTime; last != nil {
		after = last.Time
		if last.Sub(v.Now) > maxClockSkew {
			v.addWarning(d, last.Time, "LastScheduleInFuture", fmt.Sprintf("Not starting jobs until %s, which status.lastScheduleTime holds, "+
				"has passed. Was the clock set back?", last.UTC().Format(time.RFC1123Z)))
		}
	}
	return latest(after, v.ScheduleSince)
}

// notTooLate returns after, or a later time if due times up to that have missed spec.startingDeadlineSeconds.
func (v *view) notTooLate(after time.Time) time.Time {
	if deadline := v.cronJob.Spec.StartingDeadlineSeconds; deadline != nil {
		return latest(after, v.Now.Add(-time.Duration(min(*deadline, maxDeadline))*time.Second))
	}
	return after
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// schedule parses the schedule. It is not ok if nothing can become due. The zone is that of the spec.
func (v *view) schedule(d *Decision) (s schedule.Schedule, zone *time.Location, ok bool) {
	name := ptr.Deref(v.cronJob.Spec.TimeZone, "")
	zone, err := schedule.LoadZone(name)
	if err != nil {
		d.addEvent(corev1.EventTypeWarning, "UnknownTimeZone", fmt.Sprintf("invalid timeZone: %q: %s", name, err))
		return nil, nil, false
	}
	if ptr.Deref(v.cronJob.Spec.Suspend, false) {
		return nil, nil, false
	}
	text, in := v.cronJob.Spec.Schedule, zone
	if rest, own, found := zoneInSchedule(text); found {
		d.addEvent(corev1.EventTypeWarning, "UnsupportedSchedule", fmt.Sprintf("CRON_TZ or TZ used in schedule %q is not officially supported, "+
			"see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details", text))
		text, in = rest, own
	}
	spec, err := schedule.ParseCron(text)
	if err != nil {
		d.addEvent(corev1.EventTypeWarning, "UnparseableSchedule", fmt.Sprintf("unparseable schedule: %q : %s", v.cronJob.Spec.Schedule, err))
		return nil, nil, false
	}
	return spec.In(in, v.anchor()), zone, true
}

// anchor is where @every counts from: the creation, or the last run if that is earlier, as in a CronJob that was
// copied with its status.
func (v *view) anchor() time.Time {
	created := v.cronJob.CreationTimestamp.Time
	if last := v.cronJob.Status.LastScheduleTime; last != nil && last.Time.Before(created) {
		return last.Time
	}
	return created
}
