package results_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/results"
)

// summary is one line for each item: index or pod, attempts, phase, message and the earlier pods.
func summary(r *stintv1.JobResults) (out []string) {
	for _, i := range r.Items {
		line := i.Pod
		if i.Index != nil {
			line = fmt.Sprintf("%d: %s", *i.Index, i.Pod)
		}
		line = fmt.Sprintf("%s ×%d %s %s", line, i.Attempts, i.Phase, i.Message)
		for _, e := range i.Earlier {
			line += " after " + e.Pod + e.Message
		}
		out = append(out, line)
	}
	return out
}

func TestMerge(t *testing.T) {
	indexed, plain := aJob(batchv1.IndexedCompletion), aJob(batchv1.NonIndexedCompletion)
	other := aJob(batchv1.IndexedCompletion)
	other.UID = "an earlier Job of this name"
	running := func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }
	of := func(n int, changes ...func(*corev1.Pod)) stintv1.PodResult {
		return results.Of(aPod(indexed, n, changes...))
	}
	inFirstSecond := func(p *corev1.Pod) { p.CreationTimestamp = at(0) }
	plainOf := func(n int) stintv1.PodResult { return results.Of(aPod(plain, n, inFirstSecond, exit(0))) }
	second := aSlice(plain, plainOf(4))
	second.Before = 2
	for name, test := range map[string]struct {
		job    *batchv1.Job
		slices []stintv1.ResultSlice
		pods   []*corev1.Pod
		want   []string
	}{
		"the attempts of an index are one": {
			job: indexed,
			slices: []stintv1.ResultSlice{
				aSlice(indexed, of(0, index(1), exit(0), said("one")), of(1, index(0), exit(1), said("bad"))),
				aSlice(indexed, of(2, index(0), exit(2)), of(3, index(0), exit(0), said("good"))),
			},
			want: []string{"0: pod-3 ×3 Succeeded good after pod-1 after pod-2", "1: pod-0 ×1 Succeeded one"},
		},
		"without indexes each pod is one, in the order of their starts": {
			job:    plain,
			slices: []stintv1.ResultSlice{aSlice(plain, of(2, exit(0)), of(1, exit(1), said("bad")))},
			pods:   []*corev1.Pod{aPod(plain, 3, running)},
			want:   []string{"pod-1 ×1 Failed bad", "pod-2 ×1 Succeeded ", "pod-3 ×0 Running "},
		},
		"the end in a slice supersedes an older version of the pod": {
			job:    indexed,
			slices: []stintv1.ResultSlice{aSlice(indexed, of(1, index(0), exit(0), said("done")))},
			pods:   []*corev1.Pod{aPod(indexed, 1, index(0), running)},
			want:   []string{"0: pod-1 ×1 Succeeded done"},
		},
		"a pod that is there has its whole message": {
			job:    indexed,
			slices: []stintv1.ResultSlice{aSlice(indexed, of(1, index(0), exit(0), said("a l…ge")))},
			pods:   []*corev1.Pod{aPod(indexed, 1, index(0), exit(0), said("a long message"))},
			want:   []string{"0: pod-1 ×1 Succeeded a long message"},
		},
		"a pod that was counted before its end and seen to end later": {
			job:    indexed,
			slices: []stintv1.ResultSlice{aSlice(indexed, of(1, index(0), exit(143))), aSlice(indexed, of(1, index(0), running))},
			want:   []string{"0: pod-1 ×1 Failed "},
		},
		"an existing pod supersedes a result from before its end": {
			job:    indexed,
			slices: []stintv1.ResultSlice{aSlice(indexed, of(1))},
			pods:   []*corev1.Pod{aPod(indexed, 1, index(0))},
			want:   []string{"0: pod-1 ×0 Pending "},
		},
		"the pod that succeeded is the last attempt, whichever was made first": {
			job:    indexed,
			slices: []stintv1.ResultSlice{aSlice(indexed, of(1, index(0), exit(0)), of(2, index(0), exit(143)))},
			want:   []string{"0: pod-1 ×2 Succeeded  after pod-2"},
		},
		"restarts are attempts, a pod that never started is none": {
			job: indexed,
			slices: []stintv1.ResultSlice{aSlice(indexed,
				of(1, index(0), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
				of(2, index(0), exit(0), func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount = 2 }))},
			want: []string{"0: pod-2 ×3 Succeeded  after pod-1"},
		},
		"pods that start in one second are in the order in which they were counted": {
			job:    plain,
			slices: []stintv1.ResultSlice{second, aSlice(plain, plainOf(3), plainOf(1))},
			pods:   []*corev1.Pod{aPod(plain, 5, inFirstSecond), aPod(plain, 1, inFirstSecond, exit(0)), aPod(plain, 2, inFirstSecond)},
			want:   []string{"pod-3 ×1 Succeeded ", "pod-1 ×1 Succeeded ", "pod-4 ×1 Succeeded ", "pod-2 ×0 Pending ", "pod-5 ×0 Pending "},
		},
		"so are the attempts of an index": {
			job:    indexed,
			slices: []stintv1.ResultSlice{aSlice(indexed, of(2, index(0), inFirstSecond, exit(3)), of(1, index(0), inFirstSecond, exit(4), said("last")))},
			want:   []string{"0: pod-1 ×2 Failed last after pod-2"},
		},
		"slices and pods of others": {
			job:    indexed,
			slices: []stintv1.ResultSlice{aSlice(other, of(1, index(0), exit(0))), {Results: []stintv1.PodResult{of(2, index(0), exit(0))}}},
			pods:   []*corev1.Pod{aPod(other, 3, index(0), exit(0))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, summary(results.Merge(test.job, test.slices, test.pods))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestDropped(t *testing.T) {
	job := aJob(batchv1.NonIndexedCompletion)
	first, second := aSlice(job), aSlice(job)
	first.Before, second.Before = 300, 200
	if got := results.Merge(job, []stintv1.ResultSlice{first, second}, nil).Dropped; got != 200 {
		t.Errorf("%d dropped, want those before the oldest slice", got)
	}
	if got := results.Merge(job, nil, nil); got.Dropped != 0 || got.Items == nil {
		t.Errorf("of nothing %+v", got)
	}
}

// TestNothingIsLost simulates a Job whose pods are recorded, some of them twice, in slices that are read in any order. Any
// number of pods is deleted once they are recorded.
func TestNothingIsLost(t *testing.T) {
	job := aJob(batchv1.IndexedCompletion)
	rapid.Check(t, func(t *rapid.T) {
		limits := results.Limits{Entries: rapid.IntRange(1, 5).Draw(t, "entries"), Message: 8, Messages: 20}
		var kept []stintv1.ResultSlice
		var there []*corev1.Pod
		indexOf := map[types.UID]int{}
		for n := range rapid.IntRange(0, 20).Draw(t, "pods") {
			i := rapid.IntRange(0, 3).Draw(t, "index")
			p := aPod(job, n, index(i), exit(int32(rapid.IntRange(0, 1).Draw(t, "code"))), said(rapid.StringN(0, 12, -1).Draw(t, "message")))
			indexOf[p.UID] = i
			recorded := rapid.Bool().Draw(t, "recorded")
			if recorded {
				kept = record(kept, job, results.Of(p), rapid.Bool().Draw(t, "new slice"), limits)
			}
			if recorded && rapid.Bool().Draw(t, "twice") {
				kept = record(kept, job, results.Of(p), rapid.Bool().Draw(t, "new slice"), limits)
			}
			if !recorded || rapid.Bool().Draw(t, "kept") {
				there = append(there, p)
			}
		}
		got := results.Merge(job, kept, there)
		seen := map[types.UID]int{}
		last := int32(-1)
		for _, item := range got.Items {
			if *item.Index <= last {
				t.Fatalf("index %d after %d", *item.Index, last)
			}
			last = *item.Index
			for _, r := range append(slices.Clone(item.Earlier), item.PodResult) {
				seen[r.UID]++
				if indexOf[r.UID] != int(last) || *r.Index != last {
					t.Fatalf("pod %s is under index %d", r.Pod, last)
				}
			}
			if int(item.Attempts) != len(item.Earlier)+1 {
				t.Fatalf("%d attempts of %d pods", item.Attempts, len(item.Earlier)+1)
			}
		}
		for uid := range indexOf {
			if seen[uid] != 1 {
				t.Fatalf("pod %s is there %d times", uid, seen[uid])
			}
		}
		if len(seen) != len(indexOf) {
			t.Fatalf("%d pods of %d", len(seen), len(indexOf))
		}
		if diff := cmp.Diff(got, results.Merge(job, rapid.Permutation(kept).Draw(t, "other order"), there)); diff != "" {
			t.Fatalf("the order of slices matters:\n%s", diff)
		}
	})
}

// record adds a result as the controller does.
func record(kept []stintv1.ResultSlice, job *batchv1.Job, r stintv1.PodResult, anew bool, limits results.Limits) []stintv1.ResultSlice {
	rest := []stintv1.PodResult{r}
	if !anew && len(kept) > 0 {
		rest = results.Append(&kept[len(kept)-1], rest, limits)
	}
	if len(rest) > 0 {
		next := aSlice(job)
		if n := len(kept); n > 0 {
			next.Before = kept[n-1].Before + int64(len(kept[n-1].Results))
		}
		kept = append(kept, next)
		results.Append(&kept[len(kept)-1], rest, limits)
	}
	return kept
}
