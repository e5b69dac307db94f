package scheduledjob

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry/cronjob"
	"github.com/stint-dev/stint/internal/schedule"
)

// maxScheduleLength and maxTimeZoneLength are longer than any real schedule and time zone.
const (
	maxScheduleLength = 255
	maxTimeZoneLength = 64
)

// validateSchedule validates the time zone only if it changes, because the known time zones depend on this process.
func validateSchedule(s, old *stintv1.Schedule, p *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := validateTimeSpec(s.TimeSpec, p.Child("timeSpec"))
	if old != nil && ptr.Equal(s.TimeZone, old.TimeZone) {
		return errs
	}
	if zone := p.Child("timeZone"); len(ptr.Deref(s.TimeZone, "")) > maxTimeZoneLength {
		errs = append(errs, field.TooLong(zone, *s.TimeZone, maxTimeZoneLength))
	} else {
		errs = append(errs, cronjob.ValidateTimeZone(s.TimeZone, zone)...)
	}
	return errs
}

func validateTimeSpec(text string, p *field.Path) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(p, `say when runs start: "R//PT10M" is every ten minutes from now on, `+
			`"0 3 * * *" every day at 03:00; without a schedule they start on demand only`)}
	}
	if len(text) > maxScheduleLength {
		return field.ErrorList{field.TooLong(p, text, maxScheduleLength)}
	}
	if _, err := schedule.Parse(text); err != nil {
		return field.ErrorList{field.Invalid(p, text, err.Error())}
	}
	return nil
}

// warnSchedule warns about a valid schedule that may not do what the user expects.
func warnSchedule(spec *stintv1.ScheduledJobSpec, now time.Time, p *field.Path) []string {
	if spec.Schedule == nil {
		return nil
	}
	parsed, err := schedule.Parse(spec.Schedule.TimeSpec)
	if err != nil {
		return nil
	}
	zone, err := schedule.LoadZone(ptr.Deref(spec.Schedule.TimeZone, ""))
	if err != nil {
		return nil
	}
	due := parsed.In(zone, now).Due(time.Time{}, now.AddDate(maxYearsAhead, 0, 0), 2)
	if len(due) == 0 {
		return []string{fmt.Sprintf("%s: no run is left: %q is never due after now", p.Child("timeSpec"), spec.Schedule.TimeSpec)}
	}
	return append(warnRounded(spec.Schedule.TimeSpec, due, p.Child("timeSpec")), warnSlowRuns(spec, due, p.Child("timeSpec"))...)
}

// maxYearsAhead is for how many years a warning looks for the next due time: practically forever.
const maxYearsAhead = 1000

func warnSlowRuns(spec *stintv1.ScheduledJobSpec, due []time.Time, p *field.Path) []string {
	if len(due) < 2 || spec.ExecTimeout == nil || ptr.Deref(spec.AllowConcurrentRun, true) {
		return nil
	}
	apart := due[1].Sub(due[0])
	if apart >= time.Duration(*spec.ExecTimeout)*time.Second {
		return nil
	}
	return []string{fmt.Sprintf("%s: runs are %s apart, may take %d seconds (execTimeout) and wait for each other "+
		"(allowConcurrentRun): some will be late or skipped", p, apart, *spec.ExecTimeout)}
}
