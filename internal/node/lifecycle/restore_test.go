package lifecycle_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
)

func TestTheActiveDeadlineAfterARestartOfTheNode(t *testing.T) {
	started := t0.Add(900 * time.Millisecond)
	for sentence, c := range map[string]struct {
		// ended is how long after the pod's start the container does.
		ended      time.Duration
		told       bool
		wantPhase  corev1.PodPhase
		wantReason string
	}{
		"a container that ends in time succeeds":                     {9900 * time.Millisecond, false, corev1.PodSucceeded, ""},
		"one that ends more than a second later does not":            {11 * time.Second, false, corev1.PodFailed, "DeadlineExceeded"},
		"nor does one that was stopped at its deadline, soon enough": {10 * time.Second, true, corev1.PodFailed, "DeadlineExceeded"},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(never, "a").deadline(10).runs("a", 0, started)
			before := w.decideStarted(started, started)
			if c.told {
				before = w.decideStarted(started, started.Add(10*time.Second))
			}
			w.pod.Status = lifecycle.Merge(w.pod.Status, before.Status, started)
			w.exited("a", 0, 0, started.Add(c.ended))
			d := w.decideStarted(lifecycle.RestoreStartTime(w.pod, w.containers), started.Add(time.Minute))
			if d.Status.Phase != c.wantPhase || d.Status.Reason != c.wantReason {
				t.Errorf("the pod is %s %s, want %s %s", d.Status.Phase, d.Status.Reason, c.wantPhase, c.wantReason)
			}
			if !d.Status.StartTime.Time.Equal(t0) {
				t.Errorf("it reports the start %s, want %s as before", d.Status.StartTime, t0)
			}
		})
	}
}

func TestTheStartOfAPodThatHasNotReportedItIsThatOfItsContainers(t *testing.T) {
	w := newWorld(never, "a", "b").runs("a", 0, at(3)).exited("b", 0, 1, at(2)).runs("b", 1, at(5))
	if got := lifecycle.RestoreStartTime(w.pod, w.containers); !got.Equal(at(1)) {
		t.Errorf("started %s, want %s", got, at(1))
	}
	if got := lifecycle.RestoreStartTime(w.pod, nil); !got.IsZero() {
		t.Errorf("a new pod was started %s", got)
	}
}
