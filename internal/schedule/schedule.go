package schedule

import (
	"errors"
	"strings"
	"time"
)

// Schedule knows when something is due.
type Schedule interface {
	// Next is the first due time after `after`. Not ok: never again.
	Next(after time.Time) (due time.Time, ok bool)
	// Due are the first due times in (after, until], at most limit of them.
	Due(after, until time.Time, limit int) []time.Time
	// Count tells how many due times there are in (after, until], and the last of them.
	Count(after, until time.Time) (n int64, last time.Time)
}

// Spec is a schedule that has been read, before its zone and its beginning are known.
type Spec struct {
	in func(zone *time.Location, since int64) sequence
}

// In is the schedule of a Spec that was taken up at `since`: nothing is due then or before, but the first time of an
// interval without a start, which is due at since itself. Times that name no zone are in `zone`.
func (s Spec) In(zone *time.Location, since time.Time) Schedule {
	return timeline{s.in(zone, seconds(since))}
}

// Parse reads a repeating interval, if text looks like one, or else a cron expression.
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

// No cron expression starts with one of these letters, or has such a step.
func looksLikeInterval(text string) bool {
	return text != "" && strings.ContainsRune("RrPp", rune(text[0])) || strings.Contains(text, "/P")
}

// sequence is a Schedule in seconds since 1970.
type sequence interface {
	next(after int64) (due int64, ok bool)
	count(after, until int64) (n, last int64)
}

// timeline is a sequence told in times.
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

// seconds are those of a time between the years 1 and 9999. That it is rounded down changes no answer, as due times are
// whole seconds.
func seconds(t time.Time) int64 {
	return min(max(t.Unix(), time.Time{}.Unix()), lastSecond)
}

func instant(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
