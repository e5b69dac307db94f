package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podstatus"
)

// lost has the newest attempt of a container lose output.
func (w *world) lost(name string, bytes int64, since time.Time) *world {
	h := w.containers[name]
	s := *h.Last
	s.LostOutput = &runtime.LostOutput{Bytes: bytes, Since: since, Reason: "no space left on device"}
	h.Last = &s
	w.containers[name] = h
	return w
}

func lossCondition(s corev1.PodStatus) *corev1.PodCondition {
	return podstatus.Condition(&corev1.Pod{Status: s}, podstatus.LogsIncomplete)
}

func TestLostOutputIsInTheStatus(t *testing.T) {
	for sentence, c := range map[string]struct {
		world  *world
		want   string
		events []string
	}{
		"nothing is lost": {world: newWorld(never, "a").exited("a", 0, 1, at(5))},
		"the amount is not told while it grows": {
			world:  newWorld(never, "a").runs("a", 0, t0).lost("a", 5000, at(1)),
			want:   "container a: some of its output is lost from 2026-01-02T15:04:06Z on: no space left on device",
			events: []string{"container a: some of its output is lost from 2026-01-02T15:04:06Z on: no space left on device"},
		},
		"a container that has ended": {
			world:  newWorld(never, "a").exited("a", 0, 0, at(5)).lost("a", 5000, at(1)),
			want:   "container a: 5000 bytes of its output are lost from 2026-01-02T15:04:06Z on: no space left on device",
			events: []string{"container a: some of its output is lost from 2026-01-02T15:04:06Z on: no space left on device"},
		},
		"several containers": {
			world: newWorld(never, "a", "b", "c").runs("a", 0, t0).exited("b", 0, 0, at(5)).lost("b", 5<<19, at(1)).runs("c", 0, t0).lost("c", 1, at(2)),
			want: "container b: 2.5 MiB of its output are lost from 2026-01-02T15:04:06Z on: no space left on device; " +
				"container c: some of its output is lost from 2026-01-02T15:04:07Z on: no space left on device",
			events: []string{"container b: some of its output is lost from 2026-01-02T15:04:06Z on: no space left on device",
				"container c: some of its output is lost from 2026-01-02T15:04:07Z on: no space left on device"},
		},
		"an attempt before the last": {
			world:  newWorld(onFailure, "a").exited("a", 0, 1, at(5)).lost("a", 7, at(1)).runs("a", 1, at(15)),
			want:   "attempt 1 of container a: 7 bytes of its output are lost from 2026-01-02T15:04:06Z on: no space left on device",
			events: []string{"attempt 1 of container a: some of its output is lost from 2026-01-02T15:04:06Z on: no space left on device"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			d := c.world.decide(at(20))
			got := ""
			if condition := lossCondition(d.Status); condition != nil {
				got = condition.Message
				if condition.Status != corev1.ConditionTrue || condition.Reason != "LogWriteFailed" {
					t.Errorf("%+v", condition)
				}
			}
			if got != c.want {
				t.Errorf("the condition says %q, want %q", got, c.want)
			}
			var events []string
			for _, e := range d.Events {
				if e.Key.Reason == "LogWriteFailed" && e.Type == corev1.EventTypeWarning {
					events = append(events, e.Message)
				}
			}
			if diff := cmp.Diff(c.events, events); diff != "" {
				t.Errorf("events: %s", diff)
			}
		})
	}
}

// A node that has just started finds the condition in the stored status.
func TestAnEventIsNotRepeatedByTheNextNode(t *testing.T) {
	w := newWorld(never, "a", "aa").runs("a", 0, t0).lost("a", 5000, at(1)).runs("aa", 0, t0)
	w.pod.Status = lifecycle.Merge(corev1.PodStatus{}, w.decide(at(20)).Status, at(20))
	w.exited("a", 0, 0, at(25)).lost("a", 7000, at(1)).lost("aa", 5000, at(1))
	var events []string
	for _, e := range w.decide(at(30)).Events {
		events = append(events, e.Message)
	}
	want := []string{"container aa: some of its output is lost from 2026-01-02T15:04:06Z on: no space left on device"}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Error(diff)
	}
}

// The answer to a start may be read after the event about lost output.
func TestAnOlderStatusDoesNotUndoALoss(t *testing.T) {
	w := newWorld(never, "a").runs("a", 0, t0).lost("a", 7, at(1)).runs("a", 0, t0)
	if w.containers["a"].Last.LostOutput == nil {
		t.Error("the loss is forgotten")
	}
}

// The node forgets attempts before the previous one, and a restart of the machine all of them.
func TestTheConditionStaysWhenTheAttemptIsForgotten(t *testing.T) {
	before := lifecycle.Merge(corev1.PodStatus{}, newWorld(onFailure, "a").runs("a", 0, t0).lost("a", 7, at(1)).decide(at(20)).Status, at(20))
	after := lifecycle.Merge(before, newWorld(onFailure, "a").exited("a", 2, 0, at(30)).decide(at(40)).Status, at(40))
	if got, want := lossCondition(after), lossCondition(before); got == nil || *got != *want {
		t.Errorf("the condition is %+v, was %+v", got, want)
	}
}

func TestTheEndOfALogSaysWhatItLacks(t *testing.T) {
	s := runtime.Status{State: runtime.Exited}
	if got := lifecycle.WithLoss(&s, "the end"); got != "the end" {
		t.Errorf("of a whole log: %q", got)
	}
	s.LostOutput = &runtime.LostOutput{Bytes: 3, Since: t0, Reason: "no space left on device"}
	const note = "[the log is incomplete: 3 bytes of its output are lost from 2026-01-02T15:04:05Z on: no space left on device]"
	for text, want := range map[string]string{"": note, "the end": note + "\nthe end"} {
		if got := lifecycle.WithLoss(&s, text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}
