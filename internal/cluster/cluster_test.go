package cluster_test

import (
	"strings"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/kube"
)

func TestClusterStintServesBesideKubeControllerManager(t *testing.T) {
	c := kube.Shared(t)
	n := newNode(t, c)
	manager, err := c.StartControllerManager("job-controller")
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Kill()
	controller(t, c, "").awaitReady(t)

	n.create(t, newJob("foreign", "example.com/other"))
	n.create(t, newJob("ours", jobcontroller.ManagedBy, size(20, 5)))
	n.create(t, newJob("theirs", "", size(20, 5)))
	n.create(t, newJob("theirs-by-name", batchv1.JobControllerName, size(5, 5)))
	for name, writer := range map[string]string{
		"ours": "stint-controller", "theirs": "kube-controller-manager", "theirs-by-name": "kube-controller-manager",
	} {
		n.awaitEnd(t, name)
		n.exact(t, name)
		if got := statusWriter(n.job(t, name)); got != writer {
			t.Errorf("%s wrote the status of job %s, want %s", got, name, writer)
		}
	}
	if job := n.job(t, "foreign"); n.made("foreign") > 0 || statusWriter(job) != "" {
		t.Errorf("the Job of another manager has %d pods and status %+v", n.made("foreign"), job.Status)
	}
}

func TestClusterStintServesInPlaceOfKubeControllerManager(t *testing.T) {
	c := kube.Shared(t)
	n := newNode(t, c)
	controller(t, c, "", "--managed-by", batchv1.JobControllerName, "--leader-elect=false").awaitReady(t)

	n.create(t, newJob("named", jobcontroller.ManagedBy))
	n.create(t, newJob("plain", "", size(20, 5)))
	n.create(t, newJob("fails", "", failing))
	n.awaitEnd(t, "plain")
	n.exact(t, "plain")
	n.awaitEnd(t, "fails")
	if job := n.job(t, "fails"); !has(job, batchv1.JobFailed) || job.Status.Failed != 1 {
		t.Errorf("job fails: %+v", job.Status)
	}
	if n.made("named") > 0 {
		t.Error("it runs a Job that names another manager")
	}
}

func TestClusterJobsGoFromOneToTheOtherAndBack(t *testing.T) {
	c := kube.Shared(t)
	n := newNode(t, c)
	indexed := func(s *batchv1.JobSpec) { s.CompletionMode = ptr.To(batchv1.IndexedCompletion) }
	jobs := []*batchv1.Job{newJob("plain", "", size(30, 6)), newJob("indexed", "", size(30, 6), indexed)}
	until := func(pods int32) {
		t.Helper()
		for _, job := range jobs {
			n.let(t.Context(), job.Name, 10)
			n.awaitJob(t, job.Name, "to go on", func(j *batchv1.Job) bool { return j.Status.Succeeded == pods })
		}
	}
	manager := func() *kube.Process {
		t.Helper()
		p, err := c.StartControllerManager("job-controller")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p
	}
	first := manager()
	for _, job := range jobs {
		n.hold(job.Name, 0)
		n.create(t, job)
	}
	until(10)
	first.Kill()
	c.RestartAPIServer(t)
	second := controller(t, c, "", "--managed-by", batchv1.JobControllerName)
	until(20)
	second.signal(syscall.SIGKILL)
	<-second.done
	c.RestartAPIServer(t)
	manager()
	until(30)
	for _, job := range jobs {
		n.awaitEnd(t, job.Name)
		n.exact(t, job.Name)
	}
}

func TestClusterWarningsAboutPodsAreNotLogged(t *testing.T) {
	c := kube.Shared(t)
	n := newNode(t, c)
	patch := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/warn":"restricted"}}}`)
	_, err := n.CoreV1().Namespaces().Patch(t.Context(), n.namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := controller(t, c, "", "--leader-elect=false")
	n.create(t, newJob("warned", jobcontroller.ManagedBy))
	n.awaitEnd(t, "warned")
	if strings.Contains(s.log.String(), "would violate") {
		t.Error("every pod makes a line of the log")
	}
}
