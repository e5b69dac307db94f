package node

import (
	"testing"
	"time"
)

func TestWaitingDue(t *testing.T) {
	t0 := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	at := func(seconds float64) time.Time { return t0.Add(time.Duration(seconds * float64(time.Second))) }
	for sentence, c := range map[string]struct {
		moved time.Time
		want  time.Time
	}{
		"nothing has moved at all":                {time.Time{}, at(1)},
		"nothing has moved since long before":     {at(-60), at(1)},
		"the queue stood still after the arrival": {at(0.5), at(1.5)},
		"the queue moves on":                      {at(5), at(6)},
		"the queue moves but the wait is long":    {at(9.5), at(10)},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := waitingDue(t0, c.moved); !got.Equal(c.want) {
				t.Errorf("due %s after the arrival, want %s", got.Sub(t0), c.want.Sub(t0))
			}
		})
	}
}
