package job

import (
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
