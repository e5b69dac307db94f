package job

import (
	"testing"
	"time"

	core "github.com/stint-dev/stint/internal/job"
)

func TestPaceOfStatusWrites(t *testing.T) {
	const period = 500 * time.Millisecond
	type write struct {
		at      time.Duration
		urgency core.WriteUrgency
	}
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	tests := map[string]struct {
		before []write
		// next is wanted at a time and may happen at another.
		next write
		due  time.Duration
	}{
		"the end of a Job is stored at once":                 {[]write{{0, core.Batched}}, write{ms(10), core.Immediate}, ms(10)},
		"the first ended pod is listed at once":              {nil, write{ms(10), core.Batched}, 0},
		"further ones a period later":                        {[]write{{ms(10), core.Batched}}, write{ms(20), core.Batched}, ms(510)},
		"a verdict lists pods too":                           {[]write{{ms(10), core.Immediate}}, write{ms(20), core.Batched}, ms(510)},
		"numbers do not keep ended pods waiting":             {[]write{{ms(10), core.Deferrable}}, write{ms(20), core.Batched}, 0},
		"the first numbers wait a moment for others":         {nil, write{ms(10), core.Deferrable}, ms(110)},
		"listed pods are counted a moment later":             {[]write{{ms(10), core.Batched}}, write{ms(20), core.Deferrable}, ms(120)},
		"further numbers a period after those":               {[]write{{0, core.Batched}, {ms(100), core.Deferrable}}, write{ms(150), core.Deferrable}, ms(600)},
		"numbers that come after a long time wait a moment":  {[]write{{0, core.Deferrable}}, write{ms(9000), core.Deferrable}, ms(9100)},
		"ended pods that come after a long time do not wait": {[]write{{0, core.Batched}}, write{ms(9000), core.Batched}, ms(500)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := statusPace{}
			for _, w := range tt.before {
				p.observeWrite(noon.Add(w.at), w.urgency)
			}
			due := p.due(noon.Add(tt.next.at), period, tt.next.urgency)
			if got := max(0, due.Sub(noon)); got != tt.due {
				t.Errorf("due after %v, want %v", got, tt.due)
			}
		})
	}
}

func TestManyPodsWaitLonger(t *testing.T) {
	ms := time.Millisecond
	for pods, want := range map[int]time.Duration{0: 240 * ms, 100: 300 * ms, 400: 480 * ms, 1_000_000: 480 * ms} {
		if got := periodFor(240*ms, pods); got != want {
			t.Errorf("a Job of %d pods waits %v, want %v", pods, got, want)
		}
	}
}
