package schedule

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// zones have changes of an hour, of half an hour, at midnight, of a whole day, or none; some have seconds in their offsets.
var zones = []string{
	"UTC", berlin, newYork, lordHowe, "America/Santiago", "Africa/Cairo", "Asia/Kathmandu", "Pacific/Apia", "Pacific/Kiritimati",
	"Africa/Monrovia", "America/Caracas", "Asia/Pyongyang", "Africa/Casablanca", "Antarctica/Troll",
}

func anyZone(t *rapid.T) *time.Location {
	return zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
}

func anyTime(t *rapid.T, name string) time.Time {
	const from, to = -4e9, 8e9 // 1843 … 2223
	near := rapid.Int64Range(from, to)
	change := rapid.Custom(func(t *rapid.T) int64 { // Around the clock changes of the calendar tests.
		c := rapid.SampledFrom([]int64{1774746000, 1772953200, 1775314800, 1792890000, 1793509200, 1791039600, 1325239200, 788871600}).Draw(t, "change")
		return c + rapid.Int64Range(-3*day, 3*day).Draw(t, "off")
	})
	seconds := rapid.OneOf(near, change).Draw(t, name)
	return time.Unix(seconds, rapid.SampledFrom([]int64{0, 0, 1, 999_999_999}).Draw(t, name+" nanoseconds"))
}

func anyDuration(t *rapid.T) string {
	n := func(limit int) int { return rapid.IntRange(1, limit).Draw(t, "n") }
	switch rapid.IntRange(0, 7).Draw(t, "unit") {
	case 0:
		return fmt.Sprintf("PT%dS", n(100_000))
	case 1:
		return fmt.Sprintf("PT%dM", n(3000))
	case 2:
		return fmt.Sprintf("P%dD", n(10))
	case 3:
		return fmt.Sprintf("P%dM", n(14))
	case 4:
		return fmt.Sprintf("P%dY", n(4))
	case 5:
		return fmt.Sprintf("P%dW", n(3))
	case 6:
		return fmt.Sprintf("P%dM%dDT%dH", n(3), n(40), n(50))
	}
	return fmt.Sprintf("P%dDT%dS", n(3), n(100_000))
}

func anyInterval(t *rapid.T) string {
	runs := rapid.SampledFrom([]string{"R", "R", "R1", "R7", "R100", "R999999999"}).Draw(t, "runs")
	clock := fmt.Sprintf("T%02d:%02d", rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute"))
	date := anyTime(t, "date").UTC().Format(time.DateOnly)
	offset := rapid.SampledFrom([]string{"", "", "Z", "+02:00", "-03:30"}).Draw(t, "offset")
	start := rapid.SampledFrom([]string{"", clock + offset, date, date + clock + offset}).Draw(t, "start")
	return runs + "/" + start + "/" + anyDuration(t)
}

func anyField(t *rapid.T, low, high int) string {
	a, b := rapid.IntRange(low, high).Draw(t, "a"), rapid.IntRange(low, high).Draw(t, "b")
	return rapid.SampledFrom([]string{
		"*", "*", fmt.Sprint(a), fmt.Sprintf("%d,%d", a, b), fmt.Sprintf("%d-%d", min(a, b), max(a, b)),
		fmt.Sprintf("*/%d", max(b, 1)), fmt.Sprintf("%d/%d", a, max(b, 1)),
	}).Draw(t, "field")
}

func anyCron(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "every") == 0 {
		return fmt.Sprintf("@every %ds", rapid.IntRange(1, 100_000).Draw(t, "seconds"))
	}
	return fmt.Sprintf("%s %s %s %s %s", anyField(t, 0, 59), anyField(t, 0, 23), anyField(t, 1, 31), anyField(t, 1, 12), anyField(t, 0, 6))
}

// Next, Due and Count agree, whatever time between two due times they start from.
func TestNextDueAndCountAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.Custom(anyInterval), rapid.Custom(anyCron)).Draw(t, "spec")
		since := anyTime(t, "since")
		s := parsed(t, text).In(anyZone(t), since)
		after := since.Add(time.Duration(rapid.Int64Range(-40*day, 400*day).Draw(t, "after")) * time.Second)

		due := s.Due(after, instant(lastSecond), 60)
		last := after
		for i, at := range due {
			if !at.After(last) {
				t.Fatalf("%v comes after %v", at, last)
			}
			if at.Before(since.Truncate(time.Second)) {
				t.Fatalf("%v is due before %v", at, since)
			}
			between := last.Add(time.Duration(rapid.Int64Range(0, int64(at.Sub(last))-1).Draw(t, "between")))
			if next, ok := s.Next(between); !ok || !next.Equal(at) {
				t.Fatalf("after %v comes %v, after %v comes %v (%v)", last, at, between, next, ok)
			}
			if n, final := s.Count(after, at); n != int64(i+1) || !final.Equal(at) {
				t.Fatalf("%d up to %v, the last %v; want %d", n, at, final, i+1)
			}
			if n, final := s.Count(at.Add(-1), at); n != 1 || !final.Equal(at) {
				t.Fatalf("%d at %v, the last %v", n, at, final)
			}
			if n, _ := s.Count(last, at.Add(-1)); n != 0 {
				t.Fatalf("%d between %v and %v", n, last, at)
			}
			last = at
		}
		if len(due) < 60 {
			if next, ok := s.Next(last); ok {
				t.Fatalf("after all comes %v", next)
			}
		}
	})
}

// Count is the sum of its parts.
func TestCountsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.Custom(anyInterval), rapid.Custom(anyCron)).Draw(t, "spec")
		since := anyTime(t, "since")
		s := parsed(t, text).In(anyZone(t), since)
		a := since.Add(time.Duration(rapid.Int64Range(-day, 1000*day).Draw(t, "a")) * time.Second)
		b := a.Add(time.Duration(rapid.Int64Range(0, 1000*day).Draw(t, "b")) * time.Second)
		c := b.Add(time.Duration(rapid.Int64Range(0, 1000*day).Draw(t, "c")) * time.Second)
		ab, lastAB := s.Count(a, b)
		bc, lastBC := s.Count(b, c)
		ac, last := s.Count(a, c)
		if ab+bc != ac {
			t.Fatalf("%d and %d are not %d", ab, bc, ac)
		}
		want := lastBC
		if bc == 0 {
			want = lastAB
		}
		if !last.Equal(want) {
			t.Fatalf("the last is %v, not %v", last, want)
		}
		if backwards, _ := s.Count(c, a); backwards != 0 && c.After(a) {
			t.Fatalf("%d backwards", backwards)
		}
	})
}

// A cron expression is due exactly in those minutes in which the clocks of its zone show one of its times.
func TestCronIsDueWhenClocksShowIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minutes, hours := rapid.Uint64().Draw(t, "minutes"), rapid.Uint64().Draw(t, "hours")
		f := fields{days: rapid.Uint64().Draw(t, "days"), months: 1<<13 - 1, weekdays: rapid.Uint64().Draw(t, "weekdays"), eitherDay: rapid.Bool().Draw(t, "either")}
		f.seconds = secondsOf(minutes, hours)
		z, since := anyZone(t), anyTime(t, "since")
		if since.Year() < 1973 { // Some offsets had seconds, so that minutes did not begin together with those of UTC.
			t.Skip()
		}
		got := timeline{clock{fields: f, zone: z, since: since.Unix()}}.Due(since, since.Add(5*day*time.Second), 1<<20)

		var want []time.Time
		for at := since.Truncate(time.Minute).Add(time.Minute); !at.After(since.Add(5 * day * time.Second)); at = at.Add(time.Minute) {
			shown := at.In(z)
			byDay, byWeekday := f.days>>shown.Day()&1 == 1, f.weekdays>>shown.Weekday()&1 == 1
			onDay := byDay && byWeekday || f.eitherDay && (byDay || byWeekday)
			if onDay && minutes>>shown.Minute()&1 == 1 && hours>>shown.Hour()&1 == 1 {
				want = append(want, at)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d due, want %d", len(got), len(want))
		}
		for i := range want {
			if !got[i].Equal(want[i]) {
				t.Fatalf("%v is due, want %v", got[i].In(z), want[i].In(z))
			}
		}
	})
}

// An interval of months and days is due at the wall-clock time of its start, on the day that the calendar gives, unless clocks
// skip that time.
func TestIntervalsShowTheTimeOfTheirStart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, first := anyZone(t), anyTime(t, "start").UTC().Truncate(time.Minute)
		months, days, k := rapid.IntRange(0, 30).Draw(t, "months"), rapid.IntRange(0, 40).Draw(t, "days"), rapid.IntRange(0, 100).Draw(t, "k")
		if months+days == 0 {
			t.Skip()
		}
		s := parsed(t, fmt.Sprintf("R/%s/P%dM%dD", first.Format("2006-01-02T15:04"), months, days)).In(z, first.AddDate(0, 0, -3))
		due := s.Due(time.Time{}, instant(lastSecond), k+1)
		got := due[len(due)-1].In(z)

		month := time.Date(first.Year(), first.Month()+time.Month(k*months), 1, 0, 0, 0, 0, time.UTC)
		dayOfMonth := min(first.Day(), month.AddDate(0, 1, -1).Day())
		date := month.AddDate(0, 0, dayOfMonth-1+k*days)
		want := time.Date(date.Year(), date.Month(), date.Day(), first.Hour(), first.Minute(), 0, 0, time.UTC)
		if got.Format(time.DateTime) == want.Format(time.DateTime) {
			return
		}
		if clocksShow(want, z) {
			t.Fatalf("time %d is %v, want %v", k, got, want)
		}
	})
}

// clocksShow reports whether there is an instant at which clocks of the zone show what a clock in UTC shows at `want`.
func clocksShow(want time.Time, z *time.Location) bool {
	for _, probe := range []time.Duration{-30 * time.Hour, 30 * time.Hour} {
		_, offset := want.Add(probe).In(z).Zone()
		if want.Add(-time.Duration(offset)*time.Second).In(z).Format(time.DateTime) == want.Format(time.DateTime) {
			return true
		}
	}
	return false
}

// Times far outside the supported years get an answer, too, and quickly.
func TestTimesOutOfReach(t *testing.T) {
	times := []time.Time{{}, time.Unix(-1<<63, 0), time.Unix(1<<63-1, 0), instant(lastSecond).Add(time.Second)}
	for _, text := range []string{"R//PT1S", "R/2026-03-01/P1M", "R/0001-01-01/P1D", "R7/01:00/P9999Y", "0 0 30 2 *", "@every 2562047h", ",, , , , ,"} {
		for _, since := range append(times, instant(lastSecond-900*366*day)) {
			s := parsed(t, text).In(zone(t, berlin), since)
			for _, after := range times {
				for _, until := range times {
					n, last := s.Count(after, until)
					due := s.Due(after, until, 2)
					if int64(len(due)) != min(n, 2) || n > 0 && (last.Before(due[0]) || last.Year() > 10000) {
						t.Errorf("%s since %v in (%v, %v]: %v are due, %d in all, the last %v", text, since, after, until, due, n, last)
					}
				}
			}
		}
	}
}
