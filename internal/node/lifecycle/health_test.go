package lifecycle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/probe"
	"github.com/stint-dev/stint/internal/podstatus"
)

// said returns what a decision asks for, and says of the pod, in words.
func said(d lifecycle.Decision) (words []string) {
	for _, s := range d.Stop {
		what := "stop"
		if s.PreStop {
			what = "preStop of"
		}
		words = append(words, fmt.Sprintf("%s %s within %s", what, s.ID.Container, s.Grace))
	}
	for _, s := range d.Start {
		words = append(words, fmt.Sprintf("start %s as %d", s.Container.Name, s.Attempt))
	}
	for c := range podstatus.EveryContainer(&d.Status) {
		if c.State.Running != nil {
			words = append(words, fmt.Sprintf("%s runs, started %t, ready %t", c.Name, ptr.Deref(c.Started, false), c.Ready))
		}
		if w := c.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			words = append(words, c.Name+" waits: "+w.Reason)
		}
	}
	for _, e := range d.Events {
		words = append(words, e.Key.Reason+": "+e.Message)
	}
	if !d.RequeueAt.IsZero() {
		words = append(words, fmt.Sprintf("again after %s", d.RequeueAt.Sub(t0)))
	}
	return append(words, string(d.Status.Phase))
}

func runsWith(policy corev1.RestartPolicy, change ...func(*corev1.Container)) *world {
	w := newWorld(policy, "a")
	for _, c := range change {
		w.with("a", c)
	}
	return w.runs("a", 0, t0)
}

func withGrace(seconds int64) func(*corev1.Container) {
	return func(c *corev1.Container) { c.LivenessProbe.TerminationGracePeriodSeconds = &seconds }
}

func TestProbesAndPostStart(t *testing.T) {
	runs := func(h *lifecycle.History) { h.PostStart = lifecycle.HookRuns }
	fails := func(h *lifecycle.History) { h.PostStart = lifecycle.HookFailed }
	liveness, startup := hasProbe(probe.Liveness), hasProbe(probe.Startup)
	for sentence, c := range map[string]struct {
		world *world
		want  []string
	}{
		"without probes a container is ready as soon as it runs": {
			runsWith(never), []string{"a runs, started true, ready true", "Running"},
		},
		"before its startup probe has succeeded it is neither started nor ready": {
			runsWith(never, startup).probed("a"), []string{"a runs, started false, ready false", "Running"},
		},
		"before its readiness probe has succeeded it is not ready": {
			runsWith(never, hasProbe(probe.Readiness)).probed("a"), []string{"a runs, started true, ready false", "Running"},
		},
		"a failed liveness probe stops the container": {
			runsWith(never, liveness).fails("a", probe.Liveness),
			[]string{"stop a within 30s", "a runs, started true, ready true", "Killing: Container a failed liveness probe", "Running"},
		},
		"and says that it will be restarted": {
			runsWith(onFailure, liveness).fails("a", probe.Liveness),
			[]string{"stop a within 30s", "a runs, started true, ready true", "Killing: Container a failed liveness probe, will be restarted", "Running"},
		},
		"a probe can have a grace period of its own": {
			runsWith(onFailure, liveness, withGrace(7)).fails("a", probe.Liveness),
			[]string{"stop a within 7s", "a runs, started true, ready true", "Killing: Container a failed liveness probe, will be restarted", "Running"},
		},
		"it is not told twice": {
			runsWith(never, liveness).fails("a", probe.Liveness).stopping("a", at(30)),
			[]string{"a runs, started true, ready true", "Running"},
		},
		"a failed startup probe stops the container": {
			runsWith(never, startup).fails("a", probe.Startup),
			[]string{"stop a within 30s", "a runs, started false, ready false", "Killing: Container a failed startup probe", "Running"},
		},
		"a container that was killed because of a probe restarts, even if it succeeded": {
			runsWith(onFailure, liveness).fails("a", probe.Liveness).stopping("a", at(30)).exited("a", 0, 0, t0), []string{"start a as 1", "Running"},
		},
		"one that exited before it was told so does not": {
			runsWith(onFailure, liveness).fails("a", probe.Liveness).exited("a", 0, 0, t0), []string{"Succeeded"},
		},
		"nor one that had exited when it was told so, which was not known then": {
			runsWith(onFailure, liveness).fails("a", probe.Liveness).stopping("a", at(30)).exited("a", 0, 0, at(-1)), []string{"Succeeded"},
		},
		"nor one with the policy Never": {
			runsWith(never, liveness).fails("a", probe.Liveness).stopping("a", at(30)).exited("a", 0, 0, t0), []string{"Succeeded"},
		},
		"a pod that ends is not stopped for a probe": {
			runsWith(onFailure, liveness, withGrace(7)).fails("a", probe.Liveness).deleted(t0, 30),
			[]string{"stop a within 31s", "a runs, started true, ready true", "Killing: Stopping container a", "Running"},
		},
		"what comes after a sidecar waits until it is started": {
			newWorld(never, "a").sidecar("s").with("s", startup).runs("s", 0, t0).probed("s"),
			[]string{"s runs, started false, ready false", "Pending"},
		},
		"and starts then": {
			newWorld(never, "a").sidecar("s").with("s", startup).runs("s", 0, t0).probed("s", probe.Startup),
			[]string{"start a as 0", "s runs, started true, ready true", "Pending"},
		},
		"a sidecar fails its startup probe": {
			newWorld(never, "a").sidecar("s").with("s", startup).runs("s", 0, t0).fails("s", probe.Startup),
			[]string{"stop s within 30s", "s runs, started false, ready false", "Killing: Init container s failed startup probe", "Pending"},
		},
		"a container with a postStart hook starts alone": {
			newWorld(never, "a", "b").with("a", postStart), []string{"start a as 0", "Pending"},
		},
		"the next one waits while the hook runs": {
			newWorld(never, "a", "b").with("a", postStart).runs("a", 0, t0).change("a", runs),
			[]string{"a runs, started false, ready false", "Pending"},
		},
		"and starts then too": {
			newWorld(never, "a", "b").with("a", postStart).runs("a", 0, t0), []string{"start b as 0", "a runs, started true, ready true", "Pending"},
		},
		"a failed postStart hook stops the container, and lets the next one start": {
			newWorld(never, "a", "b").with("a", postStart).runs("a", 0, t0).change("a", fails),
			[]string{"stop a within 30s", "start b as 0", "a runs, started false, ready false", "Killing: FailedPostStartHook", "Pending"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, said(c.world.decide(t0))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPreStop(t *testing.T) {
	hook := func(state lifecycle.Hook, by time.Time) func(*lifecycle.History) {
		return func(h *lifecycle.History) { h.PreStop, h.StopBy = state, by }
	}
	deleted := func() *world { return runsWith(never, preStop).deleted(t0, 30) }
	sidecar := func() *world {
		return newWorld(never, "a").sidecar("s").with("s", preStop).runs("s", 0, t0).runs("a", 0, t0).deleted(t0, 30)
	}
	const stopping, runs = "Killing: Stopping container a", "a runs, started true, ready true"
	for sentence, c := range map[string]struct {
		world *world
		now   int
		want  []string
	}{
		"the hook runs first": {
			deleted(), 0, []string{"preStop of a within 31s", runs, stopping, "again after 31s", "Running"},
		},
		"while it runs the container is not told": {
			deleted().change("a", hook(lifecycle.HookRuns, at(31))), 10, []string{runs, "again after 31s", "Running"},
		},
		"when it has ended the container gets what is left": {
			deleted().change("a", hook(lifecycle.HookEnded, at(31))), 10, []string{"stop a within 21s", runs, stopping, "Running"},
		},
		"but two seconds at least": {
			deleted().change("a", hook(lifecycle.HookEnded, at(31))), 30, []string{"stop a within 2s", runs, stopping, "Running"},
		},
		"a hook that takes too long is cut off": {
			deleted().change("a", hook(lifecycle.HookRuns, at(31))), 31, []string{"stop a within 2s", runs, stopping, "Running"},
		},
		"a shorter grace period shortens the hook": {
			runsWith(never, preStop).deleted(at(1), 4).change("a", hook(lifecycle.HookRuns, at(31))), 1,
			[]string{"preStop of a within 5s", runs, stopping, "again after 6s", "Running"},
		},
		"a grace period of a second is one for the hook too, at the end of a second": {
			runsWith(never, preStop).deleted(t0.Add(-100*time.Millisecond), 1), 0,
			[]string{"preStop of a within 1s", runs, stopping, "again after 1s", "Running"},
		},
		"no hook runs without a grace period": {
			runsWith(never, preStop).deleted(t0, 0), 0, []string{"stop a within 2s", runs, stopping, "Running"},
		},
		"the hook runs before a container is killed because of a probe": {
			runsWith(never, preStop, hasProbe(probe.Liveness)).fails("a", probe.Liveness), 0,
			[]string{"preStop of a within 30s", runs, "Killing: Container a failed liveness probe", "again after 30s", "Running"},
		},
		"which goes on when it has ended": {
			runsWith(never, preStop, hasProbe(probe.Liveness)).fails("a", probe.Liveness).change("a", hook(lifecycle.HookEnded, at(30))), 10,
			[]string{"stop a within 20s", runs, "Killing: Container a failed liveness probe", "Running"},
		},
		"the hook of a sidecar runs at once too": {
			sidecar().stopping("a", at(31)), 0,
			[]string{"preStop of s within 31s", "s runs, started true, ready true", runs, "Killing: Stopping container s", "again after 31s", "Running"},
		},
		"but it is told in its turn": {
			sidecar().stopping("a", at(31)).change("s", hook(lifecycle.HookEnded, at(31))), 10,
			[]string{"s runs, started true, ready true", runs, "Running"},
		},
		"which comes when the others have ended": {
			sidecar().exited("a", 0, 0, at(10)).change("s", hook(lifecycle.HookEnded, at(31))), 10,
			[]string{"stop s within 21s", "s runs, started true, ready true", "Killing: Stopping container s", "Running"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, said(c.world.decide(at(c.now)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadinessGates(t *testing.T) {
	for sentence, c := range map[string]struct {
		conditions []corev1.PodCondition
		want       string
	}{
		"a condition that is missing keeps the pod from being ready": {
			nil, `False: readiness gate "example.com/open" is closed: the pod has no such condition`,
		},
		"and so does one that is false": {
			[]corev1.PodCondition{{Type: "example.com/open", Status: corev1.ConditionFalse}},
			`False: readiness gate "example.com/open" is closed: the condition is False`,
		},
		"one that is true does not": {
			[]corev1.PodCondition{{Type: "example.com/open", Status: corev1.ConditionTrue}}, "True: ",
		},
	} {
		w := runsWith(never)
		w.pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/open"}}
		w.pod.Status.Conditions = c.conditions
		for _, got := range w.decide(t0).Status.Conditions {
			switch {
			case got.Type == corev1.PodReady && string(got.Status)+": "+got.Message != c.want:
				t.Errorf("%s: %+v", sentence, got)
			case got.Type == corev1.ContainersReady && got.Status != corev1.ConditionTrue:
				t.Errorf("%s: the containers are ready all the same: %+v", sentence, got)
			}
		}
	}
}

func TestReadinessOfThePod(t *testing.T) {
	d := runsWith(never, hasProbe(probe.Readiness)).probed("a").decide(t0)
	for _, kind := range []corev1.PodConditionType{corev1.ContainersReady, corev1.PodReady} {
		for _, c := range d.Status.Conditions {
			if c.Type == kind && (c.Status != corev1.ConditionFalse || c.Message != "containers with unready status: [a]") {
				t.Errorf("%+v", c)
			}
		}
	}
}
