package server_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/test/await"
)

// echoing returns an indexed Job, of which each pod prints its index.
func echoing(name string, completions int32) *batchv1.Job {
	j := job(name, "sh", "-c", "echo I am $JOB_COMPLETION_INDEX")
	j.Spec.CompletionMode, j.Spec.Completions, j.Spec.Parallelism = ptr.To(batchv1.IndexedCompletion), &completions, ptr.To[int32](8)
	return j
}

// podWatch counts pods and their deletions, from a watch of all of them.
type podWatch struct {
	// there and most are how many pods exist now, and at most so far.
	there, most atomic.Int32
	// withFinalizer are deletions by the write that removed the finalizer, alone those that were a write of their own.
	withFinalizer, alone atomic.Int32
}

func (p *podWatch) observe(e watch.Event) {
	switch e.Type {
	case watch.Added:
		p.most.Store(max(p.most.Load(), p.there.Add(1)))
	case watch.Deleted:
		p.there.Add(-1)
		if len(e.Object.(*corev1.Pod).Finalizers) > 0 {
			p.withFinalizer.Add(1)
		} else {
			p.alone.Add(1)
		}
	}
}

func watchPods(t *testing.T, c kubernetes.Interface) *podWatch {
	t.Helper()
	w, err := c.CoreV1().Pods("default").Watch(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	p := &podWatch{}
	go func() {
		for e := range w.ResultChan() {
			p.observe(e)
		}
	}()
	return p
}

func terminatedPods(t *testing.T, c kubernetes.Interface, job string) (n int) {
	t.Helper()
	list, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if list.Items[i].Status.Phase == corev1.PodSucceeded {
			n++
		}
	}
	return n
}

func create(t *testing.T, c kubernetes.Interface, j *batchv1.Job) {
	t.Helper()
	if _, err := c.BatchV1().Jobs("default").Create(t.Context(), j, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// get reads a subresource of a Job.
func get(t *testing.T, c kubernetes.Interface, job, subresource, parameter, value string) string {
	t.Helper()
	text, err := c.BatchV1().RESTClient().Get().Namespace("default").Resource("jobs").Name(job).SubResource(subresource).
		Param(parameter, value).DoRaw(t.Context())
	if err != nil {
		t.Errorf("%s of job %s: %v", subresource, job, err)
	}
	return string(text)
}

func TestTerminatedPodsAreBoundedAndLeaveTheirResultsAndLogs(t *testing.T) {
	const pods, threshold = 300, 100
	s, _ := start(t, server.Options{DataDir: t.TempDir(), Node: true, TerminatedPodGCThreshold: ptr.To(threshold)})
	c := clientOf(t, s)
	seen := watchPods(t, c)
	create(t, c, echoing("big", pods))
	complete(t, c, "big")
	await.Until(t, "the terminated pods are as few as allowed", func() bool { return terminatedPods(t, c, "big") <= threshold })
	if n := terminatedPods(t, c, "big"); n != threshold {
		t.Errorf("%d terminated pods are left, want %d", n, threshold)
	}
	big, err := c.BatchV1().Jobs("default").Get(t.Context(), "big", metav1.GetOptions{})
	if err != nil || big.Status.Succeeded != pods || big.Status.Failed != 0 || big.Status.CompletedIndexes != "0-299" {
		t.Errorf("the status is %+v, %v", big.Status, err)
	}
	await.Until(t, "the watch shows all deletions", func() bool { return seen.there.Load() == threshold })
	if n := seen.most.Load(); n >= pods {
		t.Errorf("there were %d pods at the same time", n)
	}
	if with, alone := seen.withFinalizer.Load(), seen.alone.Load(); with != pods-threshold || alone != 0 {
		t.Errorf("%d pods were deleted with their finalizer and %d later, want %d and none", with, alone, pods-threshold)
	}
	results := get(t, c, "big", "results", "", "")
	if n := strings.Count(results, `"phase":"Succeeded"`); n != pods {
		t.Errorf("%d results of %d pods", n, pods)
	}
	for _, index := range []int{0, 150, pods - 1} {
		want := fmt.Sprintf("I am %d\n", index)
		if log := get(t, c, "big", "log", "index", strconv.Itoa(index)); log != want {
			t.Errorf("the log of index %d is %q, want %q", index, log, want)
		}
	}
	if why := get(t, c, "big", "why", "", ""); !strings.Contains(why, "300") {
		t.Errorf("the explanation is %s", why)
	}

	// A later Job's pods stay, and those of the first go for them.
	create(t, c, echoing("small", 20))
	complete(t, c, "small")
	await.Until(t, "older pods are deleted", func() bool { return terminatedPods(t, c, "big") == threshold-20 })
	if n := terminatedPods(t, c, "small"); n != 20 {
		t.Errorf("%d pods of the later Job are left, want 20", n)
	}
	await.Until(t, "the watch shows their deletion", func() bool { return seen.alone.Load() == 20 })
}

func TestWithoutAThresholdAllTerminatedPodsStay(t *testing.T) {
	for sentence, o := range map[string]server.Options{
		"it is 0": {TerminatedPodGCThreshold: ptr.To(0)},
		"the controller does not run": {TerminatedPodGCThreshold: ptr.To(1),
			Controllers: slices.DeleteFunc(slices.Clone(server.Controllers), func(name string) bool { return name == "pod-garbage-collector" })},
	} {
		t.Run(sentence, func(t *testing.T) {
			o.DataDir, o.Node = t.TempDir(), true
			s, _ := start(t, o)
			c := clientOf(t, s)
			create(t, c, echoing("job", 10))
			complete(t, c, "job")
			if n := terminatedPods(t, c, "job"); n != 10 {
				t.Errorf("%d pods are left, want 10", n)
			}
		})
	}
}
