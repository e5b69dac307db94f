package results_test

import (
	"runtime"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/results"
)

// A Job may have 100,000 existing pods: results that are in its slices already must not be allocated again.
func TestPodsWhoseResultsAreKnownTakeLittleMemory(t *testing.T) {
	const pods, bound = 2000, 1000
	job := aJob(batchv1.IndexedCompletion)
	var there []*corev1.Pod
	var known []stintv1.PodResult
	for i := range pods {
		p := aPod(job, i, index(i), exit(0))
		there, known = append(there, p), append(known, results.Of(p))
	}
	kept := []stintv1.ResultSlice{aSlice(job, known...)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := results.Merge(job, kept, there)
	runtime.ReadMemStats(&after)
	if len(got.Items) != pods {
		t.Fatalf("%d items for %d indexes", len(got.Items), pods)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / pods; each > bound {
		t.Errorf("%d bytes a pod, more than %d", each, bound)
	}
}
