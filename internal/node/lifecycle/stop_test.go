package lifecycle_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestGrace(t *testing.T) {
	for sentence, c := range map[string]struct {
		world *world
		now   time.Time
		want  time.Duration
	}{
		"a deletion's whole grace, and the second that is missing in its time": {
			world: newWorld(never, "a").runs("a", 0, t0).deleted(t0, 30), now: t0, want: 31 * time.Second,
		},
		"no less if it was deleted at the end of a second": {
			world: newWorld(never, "a").runs("a", 0, t0).deleted(t0.Add(900*time.Millisecond), 30), now: t0.Add(900 * time.Millisecond),
			want: 30*time.Second + 100*time.Millisecond,
		},
		"nor if its time alone is known": {
			world: func() *world {
				w := newWorld(never, "a").runs("a", 0, t0).deleted(t0, 30)
				w.pod.DeletionGracePeriodSeconds = nil
				return w
			}(),
			now: t0, want: 31 * time.Second,
		},
		"what is left of it": {
			world: newWorld(never, "a").runs("a", 0, t0).deleted(t0, 30), now: at(20), want: 11 * time.Second,
		},
		"two seconds when it is used up": {
			world: newWorld(never, "a").runs("a", 0, t0).deleted(t0, 30), now: at(60), want: 2 * time.Second,
		},
		"a second, and no more, for an evicted pod": {
			world: newWorld(never, "a").runs("a", 0, t0).evicted(at(10)), now: at(10), want: time.Second,
		},
		"even if it is deleted with more": {
			world: newWorld(never, "a").runs("a", 0, t0).deleted(t0, 30).stopping("a", at(31)).evicted(at(10)), now: at(12), want: time.Second,
		},
		"the pod's own if another client failed it": {
			world: newWorld(never, "a").runs("a", 0, t0).endedExternally(corev1.PodFailed), now: at(100), want: 30 * time.Second,
		},
		"and no more for its sidecar than was left to its main container": {
			world: newWorld(never, "a").sidecar("s").runs("s", 0, t0).stopping("a", at(25)).exited("a", 0, 0, at(10)).endedExternally(corev1.PodFailed),
			now:   at(15), want: 10 * time.Second,
		},
		"a sidecar gets what its pod's main container has left": {
			world: newWorld(never, "a").sidecar("s").runs("s", 0, t0).exited("a", 0, 0, at(10)), now: at(15), want: 25 * time.Second,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			d := c.world.decide(c.now)
			if len(d.Stop) != 1 || d.Stop[0].Grace != c.want {
				t.Errorf("stop = %+v, want one with grace %s", d.Stop, c.want)
			}
		})
	}
}

func TestStopIsDecidedOnce(t *testing.T) {
	w := newWorld(never, "a").runs("a", 0, t0).deleted(t0, 30)
	w.stopping("a", at(31))
	if d := w.decide(at(1)); len(d.Stop) != 0 {
		t.Errorf("asked to stop again: %+v", d.Stop)
	}
	w.deleted(t0, 5)
	if d := w.decide(at(1)); len(d.Stop) != 1 || d.Stop[0].Grace != 5*time.Second {
		t.Errorf("a shorter grace gave %+v, want one stop after 5s", d.Stop)
	}
}
