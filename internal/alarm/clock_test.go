package alarm

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// The clock of synctest cannot be set, so these ask for what Run asks: what is due at what the clock shows, and how long
// to sleep.
func TestTheWallClockCounts(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a, b := types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"}
	for sentence, c := range map[string]struct {
		now       time.Time
		wantDue   []types.NamespacedName
		wantSleep time.Duration
	}{
		"long before, it looks again in a second":    {now: noon.Add(-time.Hour), wantSleep: time.Second},
		"shortly before, it looks again in time":     {now: noon.Add(-time.Millisecond), wantSleep: time.Millisecond},
		"at the time":                                {now: noon, wantDue: []types.NamespacedName{a}, wantSleep: time.Second},
		"after the clock was set forward, all ring":  {now: noon.Add(24 * time.Hour), wantDue: []types.NamespacedName{a, b}},
		"after the clock was set back, it waits too": {now: noon.AddDate(-1, 0, 0), wantSleep: time.Second},
	} {
		t.Run(sentence, func(t *testing.T) {
			alarm := New[types.NamespacedName](nil, nil)
			alarm.Set(b, noon.Add(time.Hour))
			alarm.Set(a, noon)
			due, sleep := alarm.popDue(c.now)
			if !slices.Equal(due, c.wantDue) || sleep != c.wantSleep {
				t.Errorf("due %v, sleep %v; want %v, %v", due, sleep, c.wantDue, c.wantSleep)
			}
		})
	}
}

// A time that was computed from time.Now carries a reading of the clock that counts since the machine started, and times
// that have one are compared by it. It must not get in.
func TestMonotonicReadingsAreTakenOff(t *testing.T) {
	a := New[types.NamespacedName](nil, nil)
	at := time.Now().Add(time.Hour)
	a.Set(types.NamespacedName{Name: "new"}, at)
	a.Set(types.NamespacedName{Name: "replaced"}, at)
	a.Set(types.NamespacedName{Name: "replaced"}, at)
	for _, e := range a.waiting {
		if e.at != at.Round(0) {
			t.Errorf("%s waits for %v", e.key.Name, e.at)
		}
	}
}
