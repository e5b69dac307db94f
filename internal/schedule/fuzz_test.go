package schedule

import (
	"testing"
	"time"
)

func FuzzParseInterval(f *testing.F) {
	for _, c := range badIntervals {
		f.Add(c[0])
	}
	for _, seed := range []string{"R5/T01:00:00/PT1H", "R//P1Y2M3DT4H5M6S", "R/2026-03-29T02:30:00+02:00/P1M", "R3/20261025/P1W", "R1/0001-01-01T00:00-15:59/PT1S", "R/9999-12-31T23:59:59/P9998Y"} {
		f.Add(seed)
	}
	fuzz(f, ParseInterval)
}

func FuzzParseCron(f *testing.F) {
	for _, seed := range []string{"* * * * *", "TZ=UTC", "TZ=0", "CRON_TZ= @daily", "@every 1h", "@every -1h", "@every 290y", "*/5 1-2,3 * JAN ?", ", , , , ,", "TZ", "0 0 30 2 *"} {
		f.Add(seed)
	}
	fuzz(f, ParseCron)
}

// fuzz expects, for every text, an error with a message or a schedule with consistent answers.
func fuzz(f *testing.F, parse func(string) (Spec, error)) {
	z := zone(f, lordHowe)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Fatalf("%q is refused without a word", text)
			}
			return
		}
		since := time.Date(2026, 3, 1, 12, 0, 0, 1, time.UTC)
		last := time.Time{}
		due := s.In(z, since).Due(last, instant(lastSecond), 5)
		for _, at := range due {
			if !at.After(last) || at.Before(since.Truncate(time.Second)) {
				t.Fatalf("%q: %v comes after %v", text, at, last)
			}
			last = at
		}
		if n, final := s.In(z, since).Count(time.Time{}, last); n != int64(len(due)) || n > 0 && !final.Equal(last) {
			t.Fatalf("%q: %d up to %v, the last %v; want %d", text, n, last, final, len(due))
		}
	})
}
