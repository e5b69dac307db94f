package job_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/await"
)

func annotated(j *batchv1.Job, key, value string) *batchv1.Job {
	j.Annotations = map[string]string{key: value}
	return j
}

// failedPods returns the failed pods of a Job that still exist.
func (e *env) failedPods(name string) []corev1.Pod {
	return slices.DeleteFunc(e.podList(), func(p corev1.Pod) bool {
		return p.Labels[batchv1.JobNameLabel] != name || p.Status.Phase != corev1.PodFailed
	})
}

func (e *env) untilFailedPodsLeft(name string, n int) {
	e.t.Helper()
	await.Until(e.t, fmt.Sprintf("%d failed pods of %s", n, name), func() bool {
		return len(e.failedPods(name)) == n
	}, e.describePods)
}

// Whichever pods are removed, a Job ends as it would with all of them, over restarts of the controller too.
func TestRemovedPodsStayCounted(t *testing.T) {
	kinds := map[string]struct {
		change func(*batchv1.JobSpec)
		want   batchv1.JobStatus
	}{
		"plain": {func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](7) }, batchv1.JobStatus{Failed: 8}},
		"parallel": {func(s *batchv1.JobSpec) {
			pods(3, 3)(s)
			s.BackoffLimit = ptr.To[int32](1_000_000)
			s.PodFailurePolicy = onExitCode42(batchv1.PodFailurePolicyActionIgnore)
		}, batchv1.JobStatus{Succeeded: 3}},
		"index": {func(s *batchv1.JobSpec) {
			pods(3, 3)(s)
			indexed(s)
			s.BackoffLimitPerIndex = ptr.To[int32](2)
		}, batchv1.JobStatus{Failed: 3, Succeeded: 2, CompletedIndexes: "0,2", FailedIndexes: ptr.To("1")}},
	}
	var mu sync.Mutex
	ended := map[string]int{}
	e := start(t, quick(), func(p *corev1.Pod) fate {
		mu.Lock()
		defer mu.Unlock()
		job := p.Labels[batchv1.JobNameLabel]
		switch {
		case job[:5] == "paral" && ended[job] < 5:
			ended[job]++
			return fail42
		case job[:5] == "paral", p.Annotations[batchv1.JobCompletionIndexAnnotation] == "0", p.Annotations[batchv1.JobCompletionIndexAnnotation] == "2":
			return succeed
		default:
			return fail
		}
	})
	var names []string
	for _, limit := range []string{"0", "1", "3", "all"} {
		for kind, k := range kinds {
			j := newJob(kind+"-"+limit, k.change)
			if limit != "all" {
				annotated(j, core.FailedPodsLimit, limit)
			}
			e.create(j)
			names = append(names, j.Name)
		}
	}
	for range 4 {
		e.stopController()
		e.startController()
	}
	for _, name := range names {
		kind, limit := name[:len(name)-2], name[len(name)-1:]
		if limit == "l" {
			kind, limit = name[:len(name)-4], "100"
		}
		j, want := e.untilFinished(name), kinds[kind].want
		got := batchv1.JobStatus{Failed: j.Status.Failed, Succeeded: j.Status.Succeeded,
			CompletedIndexes: j.Status.CompletedIndexes, FailedIndexes: j.Status.FailedIndexes}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		most, err := strconv.Atoi(limit)
		if err != nil {
			t.Fatal(err)
		}
		failures := int(want.Failed)
		if kind == "parallel" {
			failures = 5
		}
		e.untilFailedPodsLeft(name, min(most, failures))
	}
}

func TestPodsTellOfFailuresOverRestartsOfTheController(t *testing.T) {
	o := quick()
	o.PodFailureBackoff, o.MaxPodFailureBackoff, o.FailedPodsLimit = time.Second, time.Second, ptr.To(0)
	failuresBefore := make(chan string, 10)
	e := start(t, o, func(p *corev1.Pod) fate {
		failuresBefore <- p.Annotations[core.FailuresBefore]
		return fail
	})
	e.create(newJob("j", func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](2) }))
	for _, want := range []string{"", "1", "2"} {
		if got := <-failuresBefore; got != want {
			t.Errorf("a pod records %q failures before it, want %q", got, want)
		}
		e.stopController()
		e.startController()
	}
	e.untilFinished("j")
	e.untilFailedPodsLeft("j", 0)
}

func TestALimitMayComeAndGo(t *testing.T) {
	e := start(t, quick(), always(fail))
	e.create(newJob("j", func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](5) }))
	e.untilFinished("j")
	e.untilFailedPodsLeft("j", 6)
	for _, n := range []int{4, 1} {
		e.update("j", func(j *batchv1.Job) { j.Annotations = map[string]string{core.FailedPodsLimit: strconv.Itoa(n)} })
		e.untilFailedPodsLeft("j", n)
	}
}

func TestAFinishedJobIsTidiedByTheNextController(t *testing.T) {
	e := start(t, quick(), always(fail))
	e.create(newJob("j", func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](5) }))
	e.untilFinished("j")
	e.stopController()
	e.options.FailedPodsLimit = ptr.To(2)
	e.startController()
	e.untilFailedPodsLeft("j", 2)
	kept := e.failedPods("j")
	for i := range kept {
		if err := e.client.Pods().Delete(context.Background(), &kept[i], client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	e.untilFailedPodsLeft("j", 0)
	if j := e.untilFinished("j"); j.Status.Failed != 6 {
		t.Errorf("%d failures are counted, want 6", j.Status.Failed)
	}
}
