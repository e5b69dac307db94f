package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
)

const (
	never     = corev1.RestartPolicyNever
	onFailure = corev1.RestartPolicyOnFailure
)

type outcome struct {
	Start, Stop []string
	Phase       corev1.PodPhase
	Reason      string
	Ended       bool
	// RequeueAfter is in seconds since t0; 0 is no requeue.
	RequeueAfter int
}

func outcomeOf(d lifecycle.Decision) outcome {
	o := outcome{Start: starts(d), Stop: stops(d), Phase: d.Status.Phase, Reason: d.Status.Reason, Ended: d.Ended}
	if !d.RequeueAt.IsZero() {
		o.RequeueAfter = int(d.RequeueAt.Sub(t0).Seconds())
	}
	return o
}

func TestDecide(t *testing.T) {
	none := []string{}
	for sentence, c := range map[string]struct {
		world *world
		now   time.Time
		want  outcome
	}{
		"a pod without its resources waits": {
			world: func() *world { w := newWorld(never, "a"); w.waits = true; return w }(),
			want:  outcome{Start: none, Stop: none},
		},
		"main containers start together": {
			world: newWorld(never, "a", "b"),
			want:  outcome{Start: []string{"a", "b"}, Stop: none, Phase: corev1.PodPending},
		},
		"the first init container starts alone": {
			world: newWorld(never, "a").init("i").init("j"),
			want:  outcome{Start: []string{"i"}, Stop: none, Phase: corev1.PodPending},
		},
		"while an init container runs nothing starts": {
			world: newWorld(never, "a").init("i").runs("i", 0, t0),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodPending},
		},
		"a sidecar starts in its place": {
			world: newWorld(never, "a").init("i").sidecar("s").init("j").exited("i", 0, 0, t0),
			want:  outcome{Start: []string{"s"}, Stop: none, Phase: corev1.PodPending},
		},
		"once a sidecar runs the next init container starts": {
			world: newWorld(never, "a").sidecar("s").init("j").runs("s", 0, t0),
			want:  outcome{Start: []string{"j"}, Stop: none, Phase: corev1.PodPending},
		},
		"a sidecar that ends while its pod runs is started again": {
			world: newWorld(never, "a").sidecar("s").exited("s", 0, 0, t0).runs("a", 0, t0),
			want:  outcome{Start: []string{"s"}, Stop: none, Phase: corev1.PodRunning},
		},
		"an init container that fails for good fails the pod": {
			world: newWorld(never, "a").init("i").exited("i", 0, 1, t0),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Ended: true},
		},
		"an init container that fails is tried again with OnFailure": {
			world: newWorld(onFailure, "a").init("i").exited("i", 0, 1, t0),
			want:  outcome{Start: []string{"i"}, Stop: none, Phase: corev1.PodPending},
		},
		"the second crash waits ten seconds": {
			world: newWorld(onFailure, "a").exited("a", 0, 1, at(0)).exited("a", 1, 1, at(1)),
			now:   at(2),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodRunning, RequeueAfter: 11},
		},
		"after the wait it starts": {
			world: newWorld(onFailure, "a").exited("a", 0, 1, at(0)).exited("a", 1, 1, at(1)),
			now:   at(11),
			want:  outcome{Start: []string{"a"}, Stop: none, Phase: corev1.PodRunning},
		},
		"success under OnFailure is final": {
			world: newWorld(onFailure, "a").exited("a", 0, 0, t0),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodSucceeded, Ended: true},
		},
		"one failed container fails the pod, once the other has ended": {
			world: newWorld(never, "a", "b").exited("a", 0, 1, t0).runs("b", 0, t0),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodRunning},
		},
		"a failed sidecar does not count": {
			world: newWorld(never, "a").sidecar("s").exited("a", 0, 0, t0).exited("s", 0, 143, t0),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodSucceeded, Ended: true},
		},
		"sidecars end when the main containers have, the last one first": {
			world: newWorld(never, "a").sidecar("s").sidecar("t").runs("s", 0, t0).runs("t", 0, t0).exited("a", 0, 0, t0),
			want:  outcome{Start: none, Stop: []string{"t"}, Phase: corev1.PodRunning},
		},
		"a deleted pod stops its main containers and keeps its sidecars meanwhile": {
			world: newWorld(never, "a").sidecar("s").runs("s", 0, t0).runs("a", 0, t0).deleted(t0, 30),
			want:  outcome{Start: none, Stop: []string{"a"}, Phase: corev1.PodRunning},
		},
		"a deleted pod restarts nothing": {
			world: newWorld(onFailure, "a").exited("a", 0, 143, t0).deleted(t0, 30),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Ended: true},
		},
		"a deleted pod that never ran fails at once": {
			world: newWorld(never, "a").deleted(t0, 30),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Ended: true},
		},
		"a pod that ended well before it was deleted has succeeded": {
			world: newWorld(never, "a").exited("a", 0, 0, t0).deleted(at(1), 30),
			now:   at(1),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodSucceeded, Ended: true},
		},
		"at the deadline the pod is stopped": {
			world: newWorld(never, "a").deadline(10).runs("a", 0, t0),
			now:   at(10),
			want:  outcome{Start: none, Stop: []string{"a"}, Phase: corev1.PodRunning, Reason: "DeadlineExceeded"},
		},
		"before the deadline the pod is woken for it": {
			world: newWorld(never, "a").deadline(10).runs("a", 0, t0),
			now:   at(9),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodRunning, RequeueAfter: 10},
		},
		"a pod that was stopped at its deadline failed whatever its exit code": {
			world: newWorld(never, "a").deadline(10).exited("a", 0, 0, at(11)),
			now:   at(12),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Reason: "DeadlineExceeded", Ended: true},
		},
		"a pod that ended before its deadline does not fail because of it later": {
			world: newWorld(never, "a").deadline(10).exited("a", 0, 0, at(5)),
			now:   at(60),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodSucceeded, Ended: true},
		},
		"a pod that another client failed is stopped, its sidecars last": {
			world: newWorld(never, "a").sidecar("s").runs("s", 0, t0).runs("a", 0, t0).endedExternally(corev1.PodFailed),
			want:  outcome{Start: none, Stop: []string{"a"}, Phase: corev1.PodRunning},
		},
		"then its sidecars": {
			world: newWorld(never, "a").sidecar("s").runs("s", 0, t0).exited("a", 0, 0, t0).endedExternally(corev1.PodFailed),
			want:  outcome{Start: none, Stop: []string{"s"}, Phase: corev1.PodRunning},
		},
		"once nothing of it runs it has ended": {
			world: newWorld(onFailure, "a").sidecar("s").exited("s", 0, 1, t0).exited("a", 0, 1, t0).endedExternally(corev1.PodFailed),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Ended: true},
		},
		"so has one of which nothing was started, though it could": {
			world: newWorld(never, "a").endedExternally(corev1.PodFailed),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Ended: true},
		},
		"it stays failed whatever its containers' exit codes": {
			world: newWorld(never, "a").exited("a", 0, 0, t0).endedExternally(corev1.PodFailed),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Ended: true},
		},
		"a lost container fails the pod under OnFailure too": {
			world: newWorld(onFailure, "a").add(runtime.Status{
				ID: runtime.ID{PodUID: "uid", Container: "a"}, State: runtime.Exited, Lost: true, StartedAt: t0, FinishedAt: t0,
			}),
			want: outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Ended: true},
		},
		"a container that could not start is tried again later": {
			world: func() *world {
				w := newWorld(never, "a")
				w.startFailures = map[string]lifecycle.StartFailure{"a": {Reason: "CreateContainerConfigError", RetryAt: at(4)}}
				return w
			}(),
			want: outcome{Start: none, Stop: none, Phase: corev1.PodPending, RequeueAfter: 4},
		},
		"an evicted pod is stopped": {
			world: newWorld(onFailure, "a", "b").runs("a", 0, t0).exited("b", 0, 0, at(1)).evicted(at(2)), now: at(2),
			want: outcome{Start: none, Stop: []string{"a"}, Phase: corev1.PodRunning, Reason: "Evicted"},
		},
		"whatever its containers make of it an evicted pod fails": {
			world: newWorld(onFailure, "a").exited("a", 0, 0, at(3)).evicted(at(2)), now: at(3),
			want: outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Reason: "Evicted", Ended: true},
		},
		"an init container that eviction has ended has not failed by itself": {
			world: newWorld(never, "a").init("i").exited("i", 0, 143, at(3)).evicted(at(2)), now: at(3),
			want: outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Reason: "Evicted", Ended: true},
		},
		"what has ended before its eviction has ended by itself": {
			world: newWorld(onFailure, "a").exited("a", 0, 0, at(1)).evicted(at(2)), now: at(3),
			want: outcome{Start: none, Stop: none, Phase: corev1.PodSucceeded, Ended: true},
		},
		"a pod that the machine cannot run fails": {
			world: func() *world {
				w := newWorld(never, "a")
				w.refusal = &lifecycle.Refusal{Reason: "NotSupported", Message: "no"}
				return w
			}(),
			want: outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Reason: "NotSupported", Ended: true},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if c.now.IsZero() {
				c.now = t0
			}
			if diff := cmp.Diff(c.want, outcomeOf(c.world.decide(c.now))); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackOff(t *testing.T) {
	w := newWorld(onFailure, "a")
	var delays []int
	end := t0
	for attempt := range int32(9) {
		w.exited("a", attempt, 1, end)
		d := w.decide(end)
		delay := 0
		if len(d.Start) == 0 {
			delay = int(d.RequeueAt.Sub(end).Seconds())
		}
		delays = append(delays, delay)
		end = end.Add(time.Minute * 10)
	}
	if diff := cmp.Diff([]int{0, 10, 20, 40, 80, 160, 300, 300, 300}, delays); diff != "" {
		t.Errorf("delays (-want +got):\n%s", diff)
	}

	long := runtime.Status{ID: w.id("a", 9), State: runtime.Exited, ExitCode: 1, StartedAt: end, FinishedAt: end.Add(600 * time.Second)}
	w.add(long)
	if d := w.decide(long.FinishedAt); len(d.Start) != 1 {
		t.Errorf("a container that ran for ten minutes waits for its restart: %+v", d)
	}
	w.exited("a", 10, 1, long.FinishedAt.Add(time.Minute))
	if d := w.decide(long.FinishedAt.Add(time.Minute)); d.RequeueAt.Sub(long.FinishedAt) != time.Minute+10*time.Second {
		t.Errorf("the crash after that waits until %s", d.RequeueAt)
	}
}
