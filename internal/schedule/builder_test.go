package schedule

import (
	"time"

	"pgregory.net/rapid"
)

const shown = "2006-01-02 15:04:05 -07:00"

// at reads times such as "2026-03-01 12:00:00 +01:00".
func at(t rapid.TB, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(shown, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func zone(t rapid.TB, name string) *time.Location {
	t.Helper()
	z, err := LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func parsed(t rapid.TB, text string) Spec {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s
}

// firstDue are the first n due times as clocks of the zone show them.
func firstDue(t rapid.TB, text, zoneName, since string, n int) []string {
	t.Helper()
	z := zone(t, zoneName)
	var all []string
	for _, due := range parsed(t, text).In(z, at(t, since)).Due(time.Time{}, time.Unix(lastSecond, 0), n) {
		all = append(all, due.In(z).Format(shown))
	}
	return all
}
