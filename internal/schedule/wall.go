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

// lastSecond is the end of the year 9999: API times cannot tell later ones.
var lastSecond = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC).Unix()

// wallClock is what a clock shows, as the seconds since 1970 that it would be if the clock were in UTC.
type wallClock int64

func midnight(year, month, dayOfMonth int) wallClock {
	return wallClock(time.Date(year, time.Month(month), dayOfMonth, 0, 0, 0, 0, time.UTC).Unix())
}

// plus is w some months and days later. Where the month is too short for the day it is the month's last.
func (w wallClock) plus(months, days int64) wallClock {
	t := time.Unix(int64(w), 0).UTC()
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	date := first.AddDate(0, 0, min(t.Day(), last)-1+int(days))
	return wallClock(date.Unix() + secondOf(int64(w)))
}

// instant is when a clock in the zone shows w. Of two instants it is the first; where the clock is set past w it is when
// the clock would have shown w had it not been set: both are what the old offset gives, and RFC 5545 says.
// A day that is left out as a whole, where a country changes the side of the date line, is met half a day early, so
// that it is neither the day before nor the day after.
func (w wallClock) instant(zone *time.Location) int64 {
	// No clock is more than a day off: this is before w, whatever the zone.
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

// span is a time during which the clocks of a zone are not changed. Nothing says that they are changed at its end.
type span struct {
	end    int64 // exclusive
	offset int64 // what a clock shows more than UTC
}

func spanAt(zone *time.Location, t int64) span {
	at := time.Unix(t, 0).In(zone)
	_, offset := at.Zone()
	s := span{end: math.MaxInt64, offset: int64(offset)}
	if _, end := at.ZoneBounds(); !end.IsZero() {
		// Where rules are followed beyond the known changes, the time package believes that each year ends after 365
		// days, and bounds for the 366th that are over already. No rule changes clocks on that day.
		s.end = end.Unix()
		if s.end <= t {
			s.end = (dayOf(t) + 1) * day
		}
	}
	return s
}

// dayOf and secondOf take a wall apart; they round down, also before 1970.
func dayOf(w int64) int64 { return (w - secondOf(w)) / day }

func secondOf(w int64) int64 { return (w%day + day) % day }
