package schedule

// duration is one of ISO 8601. Months and days are those of the calendar, seconds are exact: over a change of the clocks
// P1D is the same time of the next day, and PT24H is 24 hours.
type duration struct {
	months, days, seconds int64
}

// The maximum of each part of a duration: 9999 years, as no due time is later than that.
const (
	maxMonths  = 9999 * 12
	maxDays    = 9999 * 366
	maxSeconds = maxDays * day
)

// from returns a function that computes the time k durations after a.
func (d duration) from(a anchor) func(k int64) int64 {
	if d.months == 0 && d.days == 0 {
		return func(k int64) int64 { return a.at + k*d.seconds }
	}
	start := wallClock(a.at + spanAt(a.zone, a.at).offset)
	if a.wall != nil {
		start = *a.wall
	}
	return func(k int64) int64 {
		if k == 0 {
			return a.at // Clocks may show the start's time twice; a.at says which of the two is meant.
		}
		return start.plus(k*d.months, k*d.days).instant(a.zone) + k*d.seconds
	}
}

func (d duration) shortest() int64 { return (d.months*28+d.days)*day + d.seconds }
func (d duration) longest() int64  { return (d.months*31+d.days)*day + d.seconds }
