package schedule

// duration is one of ISO 8601. Months and days are those of the calendar, seconds are exact: over a change of the clocks
// P1D is the same time of the next day, and PT24H is 24 hours.
type duration struct {
	months, days, seconds int64
}

// No duration is longer than the years that there are.
const (
	maxMonths  = 9999 * 12
	maxDays    = 9999 * 366
	maxSeconds = maxDays * day
)

// from tells the time after k durations.
func (d duration) from(a anchor) func(k int64) int64 {
	if d.months == 0 && d.days == 0 {
		return func(k int64) int64 { return a.at + k*d.seconds }
	}
	start := wall(a.at + spanAt(a.zone, a.at).offset)
	if a.wall != nil {
		start = *a.wall
	}
	return func(k int64) int64 {
		if k == 0 {
			return a.at // A clock that shows this time twice does not tell which of both is meant.
		}
		return start.plus(k*d.months, k*d.days).instant(a.zone) + k*d.seconds
	}
}

// most is a number of durations that leads from start past the last year, but not much further.
func (d duration) most(start int64) int64 {
	left := lastSecond - start
	if left < 0 {
		return 0
	}
	shortest := d.months*28*day + d.days*day + d.seconds
	return left/shortest + 2
}
