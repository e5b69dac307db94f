package cluster_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client/remote"
	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/results"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

// resultsOf returns the results of a Job from its ResultSlices.
func resultsOf(t *testing.T, c *remote.Client, job *batchv1.Job) *stintv1.JobResults {
	t.Helper()
	var all []stintv1.ResultSlice
	made := labels.SelectorFromSet(labels.Set{batchv1.ControllerUidLabel: string(job.UID)})
	if _, err := c.ResultSlices().List(t.Context(), job.Namespace, made, func(s *stintv1.ResultSlice) { all = append(all, *s) }); err != nil {
		t.Fatal(err)
	}
	return results.Merge(job, all, nil)
}

func resultsOutlivePodsAndController(t *testing.T, c *kube.Cluster) {
	n := newNode(t, c)
	people, err := remote.New(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	s := controller(t, c, "", "--leader-elect=false", "--kube-api-qps=-1")
	s.awaitReady(t)
	n.create(t, newJob("before", jobcontroller.ManagedBy, size(3, 3)))
	n.awaitEnd(t, "before")
	n.exact(t, "before")
	s.awaitLog(t, "Results of Jobs are not stored")
	if logged := strings.Count(s.log.String(), "Results of Jobs are not stored"); logged != 1 {
		t.Errorf("it was logged %d times that results are not stored", logged)
	}

	if err := c.InstallCRD(t.Context(), resultSlicesCRD); err != nil {
		t.Fatal(err)
	}
	tried := 0
	await.Until(t, "results to be kept", func() bool {
		tried++
		name := fmt.Sprintf("try-%d", tried)
		n.create(t, newJob(name, jobcontroller.ManagedBy))
		n.awaitEnd(t, name)
		return len(resultsOf(t, people, n.job(t, name)).Items) == 1
	})

	const indexes = 60
	n.hold("indexed", 25)
	n.create(t, newJob("indexed", jobcontroller.ManagedBy, size(indexes, 10), func(s *batchv1.JobSpec) {
		s.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	}))
	n.awaitJob(t, "indexed", "to be under way", func(j *batchv1.Job) bool { return j.Status.Succeeded >= 20 })
	s.signal(syscall.SIGKILL)
	s.exit(t)
	c.RestartAPIServer(t)
	controller(t, c, "", "--leader-elect=false", "--kube-api-qps=-1").awaitReady(t)
	n.letGo(t.Context(), "indexed")
	n.awaitEnd(t, "indexed")
	n.exact(t, "indexed")
	err = n.CoreV1().Pods(n.namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := resultsOf(t, people, n.job(t, "indexed"))
	if len(got.Items) != indexes || got.Dropped != 0 {
		t.Fatalf("%d indexes, %d dropped", len(got.Items), got.Dropped)
	}
	for i, r := range got.Items {
		if *r.Index != int32(i) || r.Phase != corev1.PodSucceeded || len(r.Earlier) > 0 {
			t.Errorf("index %d: %+v", i, r)
		}
	}
}
