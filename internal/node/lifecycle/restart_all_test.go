package lifecycle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

const restartAll = corev1.ContainerRestartRuleActionRestartAllContainers

func TestRestartAllContainers(t *testing.T) {
	// The container a restarts all if it exits with 88.
	pod := func() *world {
		return newWorld(never, "a", "b").init("i").sidecar("s").with("a", rule(restartAll, 88)).
			exited("i", 0, 0, at(1)).runs("s", 0, at(1)).runs("a", 0, at(2)).runs("b", 0, at(2))
	}
	// once is the pod after a has done so, and all have stopped.
	once := func() *world {
		return pod().exited("a", 0, 88, at(10)).exited("s", 0, 137, at(12)).exited("b", 0, 137, at(12))
	}
	const sidecar = "s runs, started true, ready true"
	waiting := func(names ...string) (words []string) {
		for _, name := range names {
			words = append(words, name+" waits: RestartingAllContainers")
		}
		return words
	}
	join := func(lists ...[]string) (all []string) {
		for _, list := range lists {
			all = append(all, list...)
		}
		return all
	}
	for sentence, c := range map[string]struct {
		world *world
		now   int
		want  []string
	}{
		"another exit code restarts nothing": {
			pod().exited("a", 0, 1, at(10)), 10, []string{sidecar, "b runs, started true, ready true", "Running"},
		},
		"the running containers are stopped, with the shortest grace period": {
			pod().exited("a", 0, 88, at(10)), 10,
			join([]string{"stop s within 2s", "stop b within 2s"}, waiting("i"), []string{sidecar}, waiting("a"),
				[]string{"b runs, started true, ready true", "Killing: Stopping container s", "Killing: Stopping container b", "Running"}),
		},
		"nothing starts before all have stopped": {
			pod().exited("a", 0, 88, at(10)).exited("b", 0, 137, at(11)).stopping("s", at(12)), 11,
			join(waiting("i"), []string{sidecar}, waiting("a"), waiting("b"), []string{"Running"}),
		},
		"then the first init container does": {
			once(), 12, join([]string{"start i as 1"}, waiting("s"), waiting("a"), waiting("b"), []string{"Running"}),
		},
		"the others follow in their order": {
			once().runs("i", 1, at(13)).exited("i", 1, 0, at(14)), 14,
			join([]string{"start s as 1"}, waiting("a"), waiting("b"), []string{"Running"}),
		},
		"at last the main containers": {
			once().exited("i", 1, 0, at(14)).runs("s", 1, at(14)), 14, []string{"start a as 1", "start b as 1", sidecar, "Running"},
		},
		"a pod that has restarted ends as usual": {
			once().exited("i", 1, 0, at(14)).exited("a", 1, 0, at(20)).exited("b", 1, 0, at(20)), 20, []string{"Succeeded"},
		},
		"they begin a second after the container that asked for it has exited": {
			pod().exited("a", 0, 88, at(10)).exited("s", 0, 137, at(10)).exited("b", 0, 137, at(10)), 10,
			join(waiting("i"), waiting("s"), waiting("a"), waiting("b"), []string{"again after 11s", "Running"}),
		},
		"they do not back off": {
			once().runs("s", 1, at(14)).exited("i", 1, 0, at(14)).exited("a", 1, 88, at(20)).exited("b", 1, 137, at(20)).
				exited("s", 1, 137, at(20)).exited("i", 2, 0, at(22)).runs("s", 2, at(23)), 23,
			[]string{"start a as 2", "start b as 2", sidecar, "Running"},
		},
		"a sidecar that ends after the main containers restarts nothing": {
			newWorld(never, "a").sidecar("s").with("s", rule(restartAll, 88)).exited("a", 0, 0, at(9)).exited("s", 0, 88, at(10)), 12,
			[]string{"Succeeded"},
		},
		"ephemeral containers run on": {
			pod().ephemeral("e", "").runs("e", 0, at(3)).exited("a", 0, 88, at(10)).stopping("s", at(12)).stopping("b", at(12)), 10,
			join(waiting("i"), []string{sidecar}, waiting("a"), []string{"b runs, started true, ready true", "e runs, started false, ready false", "Running"}),
		},
		"those that have ended are not started again": {
			once().ephemeral("e", "").exited("e", 0, 1, at(5)), 12,
			join([]string{"start i as 1"}, waiting("s"), waiting("a"), waiting("b"), []string{"Running"}),
		},
		"new ones start when all have stopped": {
			once().ephemeral("e", ""), 12,
			join([]string{"start e as 0", "start i as 1"}, waiting("s"), waiting("a"), waiting("b"), []string{"Running"}),
		},
		"a deleted pod restarts nothing": {
			once().deleted(at(12), 30), 12, []string{"Failed"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, said(c.world.decide(at(c.now)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARestartOfAllIsNoCrash(t *testing.T) {
	w := newWorld(onFailure, "a", "b").with("a", rule(restartAll, 88)).exited("a", 0, 88, at(10)).exited("b", 0, 137, at(10))
	w.restartAll = w.decide(at(10)).RestartAll
	w.runs("a", 1, at(11)).exited("b", 1, 1, at(20))
	want := []string{"start b as 2", "a runs, started true, ready true", "Running"}
	if diff := cmp.Diff(want, said(w.decide(at(20)))); diff != "" {
		t.Errorf("b crashes for the first time: %s", diff)
	}
	w.exited("b", 2, 1, at(30))
	if got := w.decide(at(30)).RequeueAt; !got.Equal(at(40)) {
		t.Errorf("and again: it restarts at %s, want %s", got, at(40))
	}
}

func TestAnInitContainerRestartsAll(t *testing.T) {
	// The attempt that asked for the restart is forgotten when its container has failed twice since.
	w := newWorld(onFailure, "a").init("i").with("i", rule(restartAll, 88)).exited("a", 0, 137, at(1)).exited("i", 0, 88, at(5))
	w.restartAll = w.decide(at(5)).RestartAll
	w.exited("i", 1, 1, at(10)).exited("i", 2, 1, at(40))
	if diff := cmp.Diff([]string{"start i as 3", "a waits: RestartingAllContainers", "Running"}, said(w.decide(at(400)))); diff != "" {
		t.Error(diff)
	}
}

func TestRestartingAllIsACondition(t *testing.T) {
	w := newWorld(never, "a", "b").with("a", rule(restartAll, 88)).runs("b", 0, t0)
	is := func() corev1.ConditionStatus {
		for _, c := range w.decide(at(20)).Status.Conditions {
			if c.Type == corev1.AllContainersRestarting {
				return c.Status
			}
		}
		return "missing"
	}
	w.runs("a", 0, t0)
	if got := is(); got != corev1.ConditionFalse {
		t.Errorf("%s before", got)
	}
	w.exited("a", 0, 88, at(10))
	if got := is(); got != corev1.ConditionTrue {
		t.Errorf("%s while b is stopped", got)
	}
	w.exited("b", 0, 137, at(12)).runs("a", 1, at(12)).runs("b", 1, at(12))
	if got := is(); got != corev1.ConditionFalse {
		t.Errorf("%s afterwards", got)
	}
}
