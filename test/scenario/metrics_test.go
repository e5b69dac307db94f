package scenario_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/test/await"
)

// measured are scenarios after which both controllers must have counted the same.
var measured = map[string][]scenario{
	"indexes":             slices.Concat(indexedScenarios, elasticScenarios),
	"limits per index":    perIndexScenarios,
	"failure policies":    podFailurePolicyScenarios,
	"success policies":    successPolicyScenarios,
	"replacement":         podReplacementScenarios,
	"suspension":          suspendScenarios,
	"managers and events": slices.Concat(managedByScenarios, eventScenarios),
}

// unmeasured are parts of names of scenarios in which a number depends on timing, or that the two controllers do
// differently.
var unmeasured = []string{
	"the delay", "waits twice as long", "the usual delay", "the next index starts", "does not let a higher one pass",
	"a failed pod is kept", "again and again", "names Stint", "a success comes while", "is replaced while it still ends",
	"FailJob comes before",
}

// TestClusterMetricsAreUpstreams plays the same scenarios to kube-controller-manager and to stint server, and compares
// what they have counted.
func TestClusterMetricsAreUpstreams(t *testing.T) {
	reference, theirs := newMeasuredReference(t, startCluster(t))
	own, ours := newMeasuredServer(t)
	for name, scenarios := range measured {
		scenarios = slices.DeleteFunc(slices.Clone(scenarios), isUnmeasured)
		t.Run(name, func(t *testing.T) {
			var playing sync.WaitGroup
			for _, c := range []*column{reference, own} {
				playing.Go(func() { playTogether(scenarios, func(s scenario) { measure(t, c, s) }) })
			}
			playing.Wait()
			awaitEqual(t, theirs, ours)
		})
		if t.Failed() {
			return // the numbers add up, so all that follow would differ too
		}
	}
	compareSyncs(t, theirs(), ours())
}

// TestClusterMetricsOfRefusedPodsAreUpstreams compares the metrics of pods that the API server refuses. How often a
// controller tries again is its own decision; upstream even counts such pods as created.
func TestClusterMetricsOfRefusedPodsAreUpstreams(t *testing.T) {
	cluster := startCluster(t)
	refuse := scenario{name: "pods that a quota refuses", play: func(s *scene) {
		s.quota("0")
		s.create(aJob()).tellsOf("FailedCreate")
		s.quota("10")
	}}
	t.Run(onReference, func(t *testing.T) {
		reference, theirs := newMeasuredReference(t, cluster)
		measure(t, reference, refuse)
		awaitSeries(t, theirs, refusals...)
	})
	t.Run(onCluster, func(t *testing.T) {
		own, ours := newMeasuredCluster(t, cluster)
		measure(t, own, refuse)
		awaitSeries(t, ours, refusals...)
	})
}

// refusals are the series that count refused pods.
var refusals = []string{
	`job_controller_job_pods_creation_total{reason="new",status="failed"}`,
	`job_controller_job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="error"}`,
	`job_controller_job_sync_duration_seconds_count{action="pods_created",completion_mode="NonIndexed",result="error"}`,
}

func awaitSeries(t *testing.T, counted func() map[string]float64, names ...string) {
	t.Helper()
	var all map[string]float64
	await.Until(t, "a count of each of\n"+strings.Join(names, "\n"), func() bool {
		all = counted()
		return !slices.ContainsFunc(names, func(name string) bool { return all[name] == 0 })
	}, func() string { return "there are\n" + strings.Join(slices.Sorted(maps.Keys(all)), "\n") })
}

func isUnmeasured(s scenario) bool {
	return s.restarts || slices.ContainsFunc(unmeasured, func(part string) bool { return strings.Contains(s.name, part) })
}

func measure(t *testing.T, c *column, s scenario) {
	t.Run(c.name+"/"+s.name, func(t *testing.T) {
		newScene(t, c).run(func(sc *scene) {
			s.play(sc)
			sc.settle() // what the controller still has to make counts, too
		})
	})
}

// awaitEqual waits for the counters to be equal: controllers count their last write a moment after it.
func awaitEqual(t *testing.T, theirs, ours func() map[string]float64) {
	t.Helper()
	diff := ""
	await.Until(t, "equal counts of kube-controller-manager (-) and Stint (+)", func() bool {
		diff = cmp.Diff(numbers(theirs()), numbers(ours()))
		return diff == ""
	}, func() string { return diff })
}

// numbers leaves out how often Jobs are synced, and counters that are 0 or do not exist yet.
func numbers(series map[string]float64) map[string]float64 {
	maps.DeleteFunc(series, func(name string, value float64) bool { return value == 0 || strings.Contains(name, "_sync") })
	return series
}

// compareSyncs compares which series there are about syncs. Their values may differ, as each controller decides how
// often it syncs.
func compareSyncs(t *testing.T, theirs, ours map[string]float64) {
	names := func(series map[string]float64) []string {
		maps.DeleteFunc(series, func(name string, _ float64) bool {
			return !strings.Contains(name, "_sync") || strings.Contains(name, "stale_sync") || strings.Contains(name, `result="error"`)
		})
		return slices.Sorted(maps.Keys(series))
	}
	if diff := cmp.Diff(names(theirs), names(ours)); diff != "" {
		t.Errorf("kube-controller-manager (-) and Stint (+) have series about syncs:\n%s", diff)
	}
}
