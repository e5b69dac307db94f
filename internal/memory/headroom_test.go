package memory

import (
	"testing"
	"time"
)

const mb = 1 << 20

func TestHeadroomFollowsTheLoad(t *testing.T) {
	for what, c := range map[string]struct {
		headroom, live int64
		since          time.Duration
		want           int64
	}{
		"a busy process gets more":             {8 * mb, 30 * mb, 100 * time.Millisecond, 16 * mb},
		"as much as its live heap and some":    {50 * mb, 30 * mb, 100 * time.Millisecond, 54 * mb},
		"it stays while the load stays":        {50 * mb, 30 * mb, 5 * time.Second, 50 * mb},
		"a calm process gets less":             {50 * mb, 30 * mb, time.Minute, 25 * mb},
		"but not too little":                   {8 * mb, 30 * mb, time.Minute, 8 * mb},
		"and a part of a large live heap":      {64 * mb, 800 * mb, time.Minute, 100 * mb},
		"a heap that shrank has less headroom": {500 * mb, 30 * mb, 5 * time.Second, 54 * mb},
	} {
		if got := nextHeadroom(c.headroom, c.live, 24*mb, c.since); got != c.want {
			t.Errorf("%s: %d MB, want %d MB", what, got/mb, c.want/mb)
		}
	}
}

func TestTheHeadroomOfABusyProcessIsChosen(t *testing.T) {
	for live, want := range map[int64]int64{2 * mb: 8 * mb, 10 * mb: 14 * mb} {
		if got := nextHeadroom(50*mb, live, 4*mb, time.Millisecond); got != want {
			t.Errorf("%d MB with a live heap of %d MB, want %d", got/mb, live/mb, want/mb)
		}
	}
}

func TestGCPercentAllowsTheHeadroom(t *testing.T) {
	for live, want := range map[int64]int{0: 200, 16 * mb: 100, 160 * mb: 10} {
		if got := gcPercent(16*mb, live); got != want {
			t.Errorf("16 MB beside %d MB: %d percent, want %d", live/mb, got, want)
		}
	}
}
