package schedule

import (
	"math/bits"
	"sort"
	"time"

	"github.com/robfig/cron/v3"
)

// clock is due whenever clocks in its zone show one of the times of its fields.
type clock struct {
	fields
	zone  *time.Location
	since int64
}

// longestGap is more than the longest time between two due times of a cron expression: the eight years from 29 February 2096
// to the next.
const longestGap = 9 * 366 * day

func (c clock) next(after int64) (int64, bool) {
	after = max(after, c.since)
	until := min(after+longestGap, lastSecond)
	for after < until {
		s := spanAt(c.zone, after+1)
		end := min(until, s.end-1)
		if w, ok := c.first(after+s.offset, end+s.offset); ok {
			return w - s.offset, true
		}
		after = end
	}
	return 0, false
}

func (c clock) count(after, until int64) (n, last int64) {
	after, until = max(after, c.since), min(until, lastSecond)
	for after < until {
		s := spanAt(c.zone, after+1)
		end := min(until, s.end-1)
		if m, w := c.all(after+s.offset, end+s.offset); m > 0 {
			n, last = n+m, w-s.offset
		}
		after = end
	}
	return n, last
}

// fields are those of a cron expression.
type fields struct {
	seconds []int64 // of a day, in order
	// days, months and weekdays have a bit for each.
	days, months, weekdays uint64
	// eitherDay reports whether both days and weekdays are restricted: then a day has to match one of them, else both.
	eitherDay bool
}

// star is the bit that the library sets in a field that is not restricted.
const star = 1 << 63

func fieldsOf(s *cron.SpecSchedule) fields {
	return fields{
		seconds:   secondsOf(s.Minute, s.Hour),
		days:      s.Dom,
		months:    s.Month,
		weekdays:  s.Dow,
		eitherDay: s.Dom&star == 0 && s.Dow&star == 0,
	}
}

// secondsOf returns the seconds of a day at which these minutes of these hours begin.
func secondsOf(minutes, hours uint64) []int64 {
	var all []int64
	for h := range int64(24) {
		for m := range int64(60) {
			if hours>>h&1 == 1 && minutes>>m&1 == 1 {
				all = append(all, h*hour+m*minute)
			}
		}
	}
	return all
}

// first returns the first time in (after, until]. All are wall-clock times within one span, without clock changes.
func (f fields) first(after, until int64) (int64, bool) {
	for d := dayOf(after); d*day <= until; d++ {
		if !f.onDay(d) {
			continue
		}
		if i := f.countUpTo(after - d*day); i < len(f.seconds) {
			w := d*day + f.seconds[i]
			return w, w <= until
		}
	}
	return 0, false
}

// all returns how many times there are in (after, until], and the last of them.
func (f fields) all(after, until int64) (n, last int64) {
	for d := dayOf(after); d*day <= until; d++ {
		if !f.onDay(d) {
			continue
		}
		from, to := f.countUpTo(after-d*day), f.countUpTo(until-d*day)
		if from < to {
			n, last = n+int64(to-from), d*day+f.seconds[to-1]
		}
	}
	return n, last
}

// countUpTo returns how many times of a day are at or before this second of the day.
func (f fields) countUpTo(second int64) int {
	switch {
	case second < 0:
		return 0
	case second >= day:
		return len(f.seconds)
	}
	return sort.Search(len(f.seconds), func(i int) bool { return f.seconds[i] > second })
}

// onDay reports whether the fields match a day, counted from 1 January 1970.
func (f fields) onDay(d int64) bool {
	if bits.OnesCount64(f.months) == 0 || len(f.seconds) == 0 {
		return false
	}
	t := time.Unix(d*day, 0).UTC()
	_, month, dayOfMonth := t.Date()
	if f.months>>month&1 == 0 {
		return false
	}
	byDay, byWeekday := f.days>>dayOfMonth&1 == 1, f.weekdays>>t.Weekday()&1 == 1
	if f.eitherDay {
		return byDay || byWeekday
	}
	return byDay && byWeekday
}
