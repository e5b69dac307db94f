package why

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
	"github.com/stint-dev/stint/test/wrappers"
)

// A cluster does not serve …/why: Jobs are observed from here, and Kubernetes' own controller syncs them.
func TestClusterWhy(t *testing.T) {
	c := kube.ForTest(t, kube.Options{})
	clientset, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	asker, err := NewAsker(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	cl := cluster{t, clientset, asker}
	cl.create("early", func(*batchv1.Job) {})
	created, err := clientset.BatchV1().Jobs("default").Get(t.Context(), "early", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if x, err := asker.Job(t.Context(), "default", "early", created.CreationTimestamp.Add(time.Minute)); err != nil || x.State != stintv1.JobNotSeen {
		t.Errorf("without a controller: %+v, %v", x, err)
	}
	if _, err := c.StartControllerManager("job-controller"); err != nil {
		t.Fatal(err)
	}
	cl.create("suspended", func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) })
	cl.create("foreign", func(j *batchv1.Job) { j.Spec.ManagedBy = ptr.To("example.com/queue") })
	cl.create("fails", func(j *batchv1.Job) { j.Annotations = map[string]string{core.BackoffSeconds: "3000"} })
	cl.create("needy", func(j *batchv1.Job) {
		j.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "none"}}}}
		j.Spec.Template.Spec.ServiceAccountName = "builder"
	})
	cl.becomes("suspended", stintv1.JobSuspended)
	cl.becomes("foreign", stintv1.JobUnknownPlan)
	cl.becomes("fails", stintv1.JobStarting)
	// This API server admits pods without their accounts, so only the claim is waited for.
	await.Until(t, "the pod waits for its claim", func() bool {
		x, err := asker.Job(t.Context(), "default", "needy", time.Now())
		return err == nil && slices.Equal(objectsOf(x), []string{"PersistentVolumeClaim/none"})
	})
	cl.endPod("fails")
	x := cl.becomes("fails", stintv1.JobDelayed)
	if delay := x.Waits[0].Until.Sub(x.Waits[0].Since.Time); delay != 10*time.Second || !x.TimesAssumed {
		t.Errorf("a delay of %v, assumed %v: want Kubernetes' 10 s", delay, x.TimesAssumed)
	}
	if len(x.Failures) != 1 || ptr.Deref(x.Failures[0].ExitCode, 0) != 3 {
		t.Errorf("failures %+v", x.Failures)
	}
}

func objectsOf(x *stintv1.JobExplanation) (objects []string) {
	for _, w := range x.Waits {
		if w.For == stintv1.WaitForObject {
			objects = append(objects, w.What)
		}
	}
	return objects
}

type cluster struct {
	*testing.T
	clientset *kubernetes.Clientset
	asker     *Asker
}

func (c cluster) create(name string, change func(*batchv1.Job)) {
	j := wrappers.MakeJob(name).With(change).Obj()
	if _, err := c.clientset.BatchV1().Jobs("default").Create(c.Context(), j, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
}

func (c cluster) becomes(name string, want stintv1.JobState) *stintv1.JobExplanation {
	c.Helper()
	var x *stintv1.JobExplanation
	var err error
	await.Until(c, fmt.Sprintf("%s is %s", name, want), func() bool {
		x, err = c.asker.Job(c.Context(), "default", name, time.Now())
		return err == nil && x.State == want
	}, func() string { return fmt.Sprintf("%+v, %v", x, err) })
	return x
}

// endPod waits for the pod of a Job and makes it fail, an hour ahead, so that the backoff delay does not end during the test.
func (c cluster) endPod(job string) {
	c.Helper()
	pods := c.clientset.CoreV1().Pods("default")
	var err error
	await.Until(c, "the pod of "+job+" is ended", func() bool {
		var list *corev1.PodList
		list, err = pods.List(c.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
		if err != nil || len(list.Items) == 0 {
			return false
		}
		p, end := &list.Items[0], metav1.NewTime(time.Now().Add(time.Hour))
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Image: "i", ImageID: "i",
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, StartedAt: end, FinishedAt: end}}}}
		_, err = pods.UpdateStatus(c.Context(), p, metav1.UpdateOptions{})
		return err == nil
	}, func() string { return fmt.Sprint(err) })
}
