package main

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/schedule"
)

var pattern = regexp.MustCompile(timeSpec)

// A cluster must accept what stint server accepts.
func TestThePatternRefusesNoSchedule(t *testing.T) {
	piece := rapid.SampledFrom([]string{"R", "5", "0", "12", "60", "/", "P", "T", "1", "H", "M", "S", "D", "W", "Y", "-", ":", ".5",
		"2026-03-01", "20260301", "01:00:00", "0100", "Z", "+02:00", "-0330", "*", "?", ",", " ", "mon", "JAN", "@every ", "1h30m", "@daily"})
	text := rapid.OneOf(
		rapid.Map(rapid.SliceOfN(piece, 1, 10), func(p []string) string { return strings.Join(p, "") }),
		rapid.StringMatching(timeSpec),
		rapid.StringMatching(interval),
		rapid.StringMatching(cron),
	)
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "timeSpec")
		if _, err := schedule.Parse(s); err != nil {
			return
		}
		accepted++
		if !pattern.MatchString(s) {
			t.Fatalf("%q is a schedule and is refused", s)
		}
	})
	if accepted == 0 {
		t.Error("no schedule was tried")
	}
}

func TestThePatternRefusesWhatIsNoSchedule(t *testing.T) {
	for _, text := range []string{
		"", " ", "x", "R5", "R5/PT1H", "R5///PT1H", "PT1H", "r5//pt1h", "R0//PT1H", "Rx//PT1H", "R5/T01:00:00/PT01", "R5/T01:00:00/",
		"R//P1H", "R//PT1D", "R//P1W2D", "R//PT", "R/tomorrow/P1D", "R/T25:00/P1D", "R/2026-13-01/P1D", "R/T01:00:00.5/P1D",
		"60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7", "* * * *", "* * * * * *", "*/0 * * * *", "@reboot", "@every",
		"@every day", "every day at noon please", "-1 * * * *",
	} {
		if pattern.MatchString(text) {
			t.Errorf("%q is accepted", text)
		}
	}
}
