package schedule

import (
	"math"
	"time"
)

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// lastSecond is the end of the year 9999: API objects cannot hold later times.
var lastSecond = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC).Unix()

// wallClock is what a clock shows, as the seconds since 1970 that it would be if the clock were in UTC.
type wallClock int64

func midnight(year, month, dayOfMonth int) wallClock {
	return wallClock(time.Date(year, time.Month(month), dayOfMonth, 0, 0, 0, 0, time.UTC).Unix())
}

// plus returns w some months and then some days later. If the month is too short for the day, the days are added to the last
// day of the month.
func (w wallClock) plus(months, days int64) wallClock {
	t := time.Unix(int64(w), 0).UTC()
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	date := first.AddDate(0, 0, min(t.Day(), last)-1+int(days))
	return wallClock(date.Unix() + secondOf(int64(w)))
}

// instant returns when a clock in the zone shows w. If it shows w twice, that is the first time. If it skips w, that is when
// it would have shown w without the change. In both cases the old offset counts, as RFC 5545 says.
// If a country skips a whole day, by moving over the date line, the result for that day is half a day earlier, so that it
// is equal to that of neither the day before nor the day after.
func (w wallClock) instant(zone *time.Location) int64 {
	// No offset is more than a day, so this is before w in every zone.
	s := spanAt(zone, int64(w)-2*day)
	for {
		at := int64(w) - s.offset
		if at < s.end {
			return at
		}
		next := spanAt(zone, s.end)
		if left := next.offset - s.offset; int64(w)-next.offset < s.end {
			if left >= day {
				at -= day / 2
			}
			return at
		}
		s = next
	}
}

// span is a period during which the offset of a zone does not change. It need not change at the end either.
type span struct {
	end    int64 // exclusive
	offset int64 // how far clocks are ahead of UTC
}

func spanAt(zone *time.Location, t int64) span {
	at := time.Unix(t, 0).In(zone)
	_, offset := at.Zone()
	s := span{end: math.MaxInt64, offset: int64(offset)}
	if _, end := at.ZoneBounds(); !end.IsZero() {
		// After the last listed change of a zone, the time package follows a rule and takes each year for 365 days. For a
		// time on the 366th day it returns an end that has passed. No rule changes clocks on that day.
		s.end = end.Unix()
		if s.end <= t {
			s.end = (dayOf(t) + 1) * day
		}
	}
	return s
}

// dayOf and secondOf split a wallClock into days since 1970 and seconds of the day. They round down, also before 1970.
func dayOf(w int64) int64 { return (w - secondOf(w)) / day }

func secondOf(w int64) int64 { return (w%day + day) % day }
