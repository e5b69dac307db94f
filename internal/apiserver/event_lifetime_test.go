package apiserver

import (
	"testing"
	"time"
)

func TestEventsLiveShorterTheMoreThereAre(t *testing.T) {
	for living, want := range map[int]time.Duration{
		0:             time.Hour,
		maxEvents / 2: time.Hour,
		15000:         30 * time.Minute,
		maxEvents:     minEventLifetime,
		5 * maxEvents: minEventLifetime,
	} {
		if got := lifetimeAmong(living, time.Hour); got != want {
			t.Errorf("among %d: %s, want %s", living, got, want)
		}
	}
}

// However many are created, those of the last minute are the most by which the bound is exceeded.
func TestTheNumberOfEventsIsBounded(t *testing.T) {
	const perSecond = 100
	now := time.Unix(0, 0)
	lifetimes := newEventLifetimes(time.Hour, func() time.Time { return now })
	var expiries []time.Time
	for range 2 * 3600 {
		now = now.Add(time.Second)
		for range perSecond {
			expiries = append(expiries, now.Add(lifetimes.next()))
		}
	}
	living := 0
	for _, expiry := range expiries {
		if expiry.After(now) {
			living++
		}
	}
	if most := maxEvents + 2*60*perSecond; living > most {
		t.Errorf("%d Events are alive, want at most %d", living, most)
	}
	now = now.Add(2 * time.Hour)
	if got := lifetimes.next(); got != time.Hour {
		t.Errorf("after a rest an Event lives %s, want an hour", got)
	}
}
