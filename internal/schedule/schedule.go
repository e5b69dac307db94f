package schedule

import (
	"errors"
	"strings"
	"time"
)

// Schedule computes due times.
type Schedule interface {
	// Next returns the first due time after `after`. It is not ok if there is none.
	Next(after time.Time) (due time.Time, ok bool)
	// Due returns the first due times in (after, until], at most limit of them.
	Due(after, until time.Time, limit int) []time.Time
	// Count returns how many due times there are in (after, until], and the last of them.
	Count(after, until time.Time) (n int64, last time.Time)
}

// Spec is a parsed schedule, which still needs a time zone and a beginning.
type Spec struct {
	in func(zone *time.Location, since int64) sequence
}

// In returns the schedule of a Spec that came into force at `since`. Nothing is due then or before, except that an interval
// without a start is first due at `since` itself. Times without a zone are in `zone`.
func (s Spec) In(zone *time.Location, since time.Time) Schedule {
	return timeline{s.in(zone, seconds(since))}
}

// Parse parses a repeating interval, if text looks like one, or else a cron expression.
func Parse(text string) (Spec, error) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		return Spec{}, errors.New("must say when: " + intervalExample + `; "0 3 * * *" is every day at 03:00`)
	case looksLikeInterval(trimmed):
		return ParseInterval(trimmed)
	}
	return ParseCron(text)
}

// looksLikeInterval reports whether text is meant to be an interval: no cron expression begins with R or P, or contains /P.
func looksLikeInterval(text string) bool {
	return text != "" && strings.ContainsRune("RrPp", rune(text[0])) || strings.Contains(text, "/P")
}

// sequence is a Schedule in seconds since 1970.
type sequence interface {
	next(after int64) (due int64, ok bool)
	count(after, until int64) (n, last int64)
}

// timeline makes a Schedule of a sequence.
type timeline struct{ sequence }

func (t timeline) Next(after time.Time) (time.Time, bool) {
	due, ok := t.next(seconds(after))
	if !ok {
		return time.Time{}, false
	}
	return instant(due), true
}

func (t timeline) Due(after, until time.Time, limit int) []time.Time {
	var all []time.Time
	from, to := seconds(after), seconds(until)
	for len(all) < limit {
		due, ok := t.next(from)
		if !ok || due > to {
			break
		}
		all = append(all, instant(due))
		from = due
	}
	return all
}

func (t timeline) Count(after, until time.Time) (int64, time.Time) {
	n, last := t.count(seconds(after), seconds(until))
	if n == 0 {
		return 0, time.Time{}
	}
	return n, instant(last)
}

// seconds returns a time in seconds since 1970, limited to the years 1 to 9999. Rounding down changes no answer, as due
// times are whole seconds.
func seconds(t time.Time) int64 {
	return min(max(t.Unix(), time.Time{}.Unix()), lastSecond)
}

func instant(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
