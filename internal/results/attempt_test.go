package results_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/results"
)

func TestAttemptsAreCountedOverPodsAndRestarts(t *testing.T) {
	began := at(0)
	pod := func(name string, restarts int32) stintv1.PodResult {
		return stintv1.PodResult{Pod: name, StartedAt: &began, Restarts: restarts}
	}
	r := &stintv1.JobResult{
		Attempts:  5,
		Earlier:   []stintv1.PodResult{pod("a", 1), {Pod: "never"}, pod("b", 0)},
		PodResult: pod("c", 1),
	}
	var got []string
	for n := int32(-1); n <= 7; n++ {
		if p, restart, ok := results.Attempt(r, n); ok {
			got = append(got, fmt.Sprintf("%d=%s/%d", n, p.Pod, restart))
		}
	}
	if want := "[1=a/0 2=a/1 3=b/0 4=c/0 5=c/1]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// Every attempt that is counted can be found, once; no other can.
func TestAttemptsThatAreCountedAreFound(t *testing.T) {
	began := at(0)
	rapid.Check(t, func(t *rapid.T) {
		var items []stintv1.JobResult
		for range rapid.IntRange(1, 4).Draw(t, "items") {
			var item stintv1.JobResult
			for i := range rapid.IntRange(1, 4).Draw(t, "pods") {
				p := stintv1.PodResult{Pod: fmt.Sprint(len(items), "-", i), Restarts: int32(rapid.IntRange(0, 3).Draw(t, "restarts"))}
				p.StartedAt = rapid.SampledFrom([]*metav1.Time{nil, &began}).Draw(t, "begun")
				if own := results.OfPod([]stintv1.JobResult{{PodResult: p}}, p.Pod); own != nil {
					item.Attempts += own.Attempts
				}
				if item.Pod != "" {
					item.Earlier = append(item.Earlier, item.PodResult)
				}
				item.PodResult = p
			}
			items = append(items, item)
		}
		all := results.SequentialAttempts(items)
		seen := map[string]bool{}
		for n := int32(1); n <= all.Attempts; n++ {
			p, restart, ok := results.Attempt(&all, n)
			key := ""
			if ok {
				key = fmt.Sprint(p.Pod, "/", restart)
			}
			if !ok || seen[key] {
				t.Fatalf("attempt %d of %d is %q, found %v, seen %v", n, all.Attempts, key, ok, seen)
			}
			seen[key] = true
		}
		for _, n := range []int32{-1, 0, all.Attempts + 1} {
			if p, _, ok := results.Attempt(&all, n); ok {
				t.Fatalf("attempt %d of %d is of pod %s", n, all.Attempts, p.Pod)
			}
		}
	})
}
