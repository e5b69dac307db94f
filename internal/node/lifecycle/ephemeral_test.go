package lifecycle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
)

func TestEphemeralContainers(t *testing.T) {
	none := []string{}
	for sentence, c := range map[string]struct {
		world *world
		want  outcome
	}{
		"one that is added starts": {
			world: newWorld(never, "a").runs("a", 0, t0).ephemeral("e", ""),
			want:  outcome{Start: []string{"e"}, Stop: none, Phase: corev1.PodRunning},
		},
		"it does not wait for init containers": {
			world: newWorld(never, "a").init("i").runs("i", 0, t0).ephemeral("e", ""),
			want:  outcome{Start: []string{"e"}, Stop: none, Phase: corev1.PodPending},
		},
		"it waits until its target runs": {
			world: newWorld(onFailure, "a").init("i").runs("i", 0, t0).ephemeral("e", "a"),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodPending},
		},
		"it starts beside its target": {
			world: newWorld(never, "a").runs("a", 0, t0).ephemeral("e", "a"),
			want:  outcome{Start: []string{"e"}, Stop: none, Phase: corev1.PodRunning},
		},
		"one that has ended is not started again, and its pod runs on": {
			world: newWorld(corev1.RestartPolicyAlways, "a").runs("a", 0, t0).ephemeral("e", "").exited("e", 0, 1, t0),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodRunning},
		},
		"one that failed does not fail its pod": {
			world: newWorld(never, "a").exited("a", 0, 0, t0).ephemeral("e", "").exited("e", 0, 1, t0),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodSucceeded, Ended: true},
		},
		"one that was lost does not fail its pod": {
			world: newWorld(never, "a").runs("a", 0, t0).ephemeral("e", "").add(runtime.Status{
				ID: runtime.ID{PodUID: "uid", Container: "e"}, State: runtime.Exited, Lost: true, StartedAt: t0, FinishedAt: t0,
			}),
			want: outcome{Start: none, Stop: none, Phase: corev1.PodRunning},
		},
		"one that runs is stopped when the main containers have ended": {
			world: newWorld(never, "a").exited("a", 0, 0, t0).ephemeral("e", "").runs("e", 0, t0),
			want:  outcome{Start: none, Stop: []string{"e"}, Phase: corev1.PodRunning},
		},
		"sidecars do not wait for its end": {
			world: newWorld(never, "a").sidecar("s").runs("s", 0, t0).exited("a", 0, 0, t0).ephemeral("e", "").runs("e", 0, t0),
			want:  outcome{Start: none, Stop: []string{"e", "s"}, Phase: corev1.PodRunning},
		},
		"in a pod that ends none is started": {
			world: newWorld(never, "a").runs("a", 0, t0).ephemeral("e", "").deleted(t0, 30),
			want:  outcome{Start: none, Stop: []string{"a"}, Phase: corev1.PodRunning},
		},
		"nor in one that another client has ended": {
			world: newWorld(never, "a").exited("a", 0, 0, t0).ephemeral("e", "").endedExternally(corev1.PodFailed),
			want:  outcome{Start: none, Stop: none, Phase: corev1.PodFailed, Ended: true},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, outcomeOf(c.world.decide(t0))); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnEphemeralContainerStartsWithTheAttemptAtItsTarget(t *testing.T) {
	w := newWorld(onFailure, "a").exited("a", 0, 1, t0).runs("a", 1, t0).ephemeral("e", "a")
	d := w.decide(t0)
	if want := w.id("a", 1); len(d.Start) != 1 || d.Start[0].Target == nil || *d.Start[0].Target != want {
		t.Errorf("starts %+v, want one with target %+v", d.Start, want)
	}
}

func TestTheStatusOfEphemeralContainers(t *testing.T) {
	w := newWorld(corev1.RestartPolicyAlways, "a").runs("a", 0, t0).
		ephemeral("runs", "").runs("runs", 0, t0).ephemeral("ended", "").exited("ended", 0, 3, at(1)).ephemeral("waits", "b")
	s := w.decide(at(2)).Status
	if len(s.EphemeralContainerStatuses) != 3 || len(s.ContainerStatuses) != 1 || len(s.InitContainerStatuses) != 0 {
		t.Fatalf("status %+v", s)
	}
	runs, ended, waits := s.EphemeralContainerStatuses[0], s.EphemeralContainerStatuses[1], s.EphemeralContainerStatuses[2]
	if runs.State.Running == nil || runs.Ready || runs.Started != nil {
		t.Errorf("one that runs has %+v", runs)
	}
	if ended.State.Terminated == nil || ended.State.Terminated.ExitCode != 3 {
		t.Errorf("one that has ended has %+v", ended)
	}
	if w := waits.State.Waiting; w == nil || w.Message != `waits until its target container "b" runs` {
		t.Errorf("one that waits has %+v", waits)
	}
	for _, c := range s.Conditions {
		if c.Type == corev1.PodReady && c.Status != corev1.ConditionTrue {
			t.Errorf("they make the pod unready: %+v", c)
		}
	}
	if lifecycle.LacksContainerEnds(corev1.PodStatus{EphemeralContainerStatuses: s.EphemeralContainerStatuses[1:]},
		map[string]lifecycle.History{"ended": w.containers["ended"]}) {
		t.Error("the end of an ephemeral container is not found in a status")
	}
}

func TestTheHistoryOfEphemeralContainersIsRestored(t *testing.T) {
	w := newWorld(never, "a").runs("a", 0, t0).ephemeral("e", "").exited("e", 0, 3, t0)
	w.pod.Status = w.decide(t0).Status
	delete(w.containers, "e")
	lifecycle.RestoreHistory(w.pod, w.containers)
	if got := starts(w.decide(t0)); len(got) > 0 {
		t.Errorf("starts %v again", got)
	}
}
