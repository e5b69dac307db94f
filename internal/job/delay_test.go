package job

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestDelay(t *testing.T) {
	failures := func(n, last int) []*corev1.Pod {
		return repeat(n, func(i int) *corev1.Pod { return aPod(podNumber(i)).Exited(1, at(last-i)).Obj() })
	}
	tests := map[string]struct {
		pods []*corev1.Pod
		want time.Duration
	}{
		"no failure, no delay":                     {nil, 0},
		"10 s after the first failure":             {failures(1, 60), 10 * time.Second},
		"what is left of it":                       {failures(1, 55), 5 * time.Second},
		"nothing once it is over":                  {failures(1, 40), 0},
		"doubled with each failure":                {failures(4, 60), 80 * time.Second},
		"up to 10 minutes":                         {failures(12, 60), 10 * time.Minute},
		"a success ends the series":                {append(failures(4, 50), aPod("s").Exited(0, at(55)).Obj()), 0},
		"failures after a success start a new one": {append(failures(2, 60), aPod("s").Exited(0, at(59)).Obj()), 10 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			live := newView(observed(aJob().Obj(), tt.pods...))
			if got := jobDelay(live); got != tt.want {
				t.Errorf("from living pods: %v, want %v", got, tt.want)
			}
			past := observed(aJob().Obj())
			for _, p := range tt.pods {
				past.History.Add(p)
				past.History.Add(p)
			}
			if got := jobDelay(newView(past)); got != tt.want {
				t.Errorf("from history: %v, want %v", got, tt.want)
			}
		})
	}
}

// The times of the API are whole seconds. In these histories everything happens in the same second: a pod fails (f) or succeeds
// (s), a decision is made (.), the controller restarts and no longer knows the order, when all pods are counted (|) or none (!).
func TestFailuresInTheSecondOfASuccess(t *testing.T) {
	tests := []struct {
		history string
		want    int
	}{
		{"fff", 3},
		{"f.f.f", 3},
		{"fffs", 0},
		{"f.s", 0},
		{"sf", 0}, // It was made before the success.
		{"s.f", 1},
		{"s.fff", 3},
		{"s.f.f", 2},
		{"f.s.f", 1},
		{"s.fs", 0},
		{"s.f.s", 0},
		{"s.f.sf", 0},
		{"s.f.s.ff", 2},
		{"s.f|", 1},
		{"fs|", 1},
		{"s.fff|", 1},
		{"fs|f", 2},
		{"fs|.fs", 0},
		{"s.f|s", 0},
		{"ss|", 0},
		{"fs!", 0},
		{"s.ff!", 0},
		{"fs!.f", 1},
		{"fs!f", 0},
		{strings.Repeat("f", 2*maxRecordedFailures) + "s", 0},
		{strings.Repeat("f", 2*maxRecordedFailures) + "s.f|", 1},
	}
	for _, tt := range tests {
		t.Run(tt.history, func(t *testing.T) {
			h, pods := History{}, []*corev1.Pod{}
			for i, happens := range tt.history {
				p := aPod(podNumber(i)).Exited(1, at(7)).Obj()
				switch happens {
				case '.':
					h.Decided()
					continue
				case '|', '!':
					h = History{}
					for _, p := range pods {
						if happens == '|' {
							RemoveFinalizer(p)
						}
						h.Add(p)
					}
					continue
				case 's':
					p = aPod(podNumber(i)).Exited(0, at(7)).Obj()
				}
				h.Observe(p)
				pods = append(pods, p)
				for _, again := range pods {
					h.Add(again) // It is still cached.
				}
			}
			if n, _ := h.sinceSuccess(); n != tt.want {
				t.Errorf("%d failures since the last success, want %d", n, tt.want)
			}
			for _, p := range pods {
				if p.Status.Phase == corev1.PodFailed && h.counts(p) && tt.want == 0 {
					t.Errorf("the failure of %s counts", p.Name)
				}
			}
		})
	}
}

// The clocks of nodes differ, and a clock may be set back.
func TestWhatIsSeenLaterCountsAsLaterOnASlowClock(t *testing.T) {
	h := History{}
	h.Observe(aPod("s").Exited(0, at(50)).Obj())
	h.Decided()
	for i := range 9 { // They may have failed before the success, too, and be reported late.
		h.Observe(aPod(podNumber(i)).Exited(1, at(34+i)).Obj())
	}
	if n, last := h.sinceSuccess(); n != 1 || !last.Equal(at(42).Time) {
		t.Errorf("%d failures after a success, the last at %v", n, last)
	}
	h.Observe(aPod("s2").Exited(0, at(43)).Obj())
	if n, _ := h.sinceSuccess(); n != 0 {
		t.Errorf("%d failures after another success", n)
	}
}

func TestAnOlderVersionOfAPodDoesNotMoveItsEnd(t *testing.T) {
	lost := aPod("a").Phase(corev1.PodFailed).Obj()
	deleted := lost.DeepCopy()
	deleted.DeletionTimestamp = ptr.To(at(50))
	h := History{}
	h.Add(deleted)
	h.Add(lost)
	if n, last := h.sinceSuccess(); n != 1 || !last.Equal(at(50).Time) {
		t.Errorf("%d failures, the last at %v", n, last)
	}
}

func TestAListedFailureDelaysThoughItsPodLives(t *testing.T) {
	j := aJob().UncountedFailed("a").Obj()
	p := aPod("a").Running().Finalizers().DeletionTimestamp(at(55)).Obj()
	if got := jobDelay(newView(observed(j, p))); got != 5*time.Second {
		t.Errorf("delay %v, want 5s", got)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	h := History{}
	for i := range 10 * maxRecordedFailures {
		h.Add(aPod(podNumber(i)).Exited(1, at(i)).Obj())
	}
	if n, last := h.sinceSuccess(); n != maxRecordedFailures || !last.Equal(at(10*maxRecordedFailures-1).Time) {
		t.Errorf("remembers %d failures, the last at %v", n, last)
	}
}

func TestEndedAt(t *testing.T) {
	late := aPod("p").Exited(1, at(7)).Conditions(corev1.PodCondition{
		Type: PendingTimeout, Status: corev1.ConditionTrue, LastTransitionTime: at(3)}).Obj()
	if got := EndedAt(late); !got.Equal(at(3).Time) {
		t.Errorf("a pod that its pending timeout failed ended at %v, want %v", got, at(3))
	}
	if got := EndedAt(aPod("p").Exited(1, at(7)).Obj()); !got.Equal(at(7).Time) {
		t.Errorf("a pod ended at %v, want when its container did, %v", got, at(7))
	}
}
