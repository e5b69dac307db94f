package apiserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

// why gets a Job's explanation by its URL, as curl would.
func why(t testing.TB, s *apiservertest.Server, name string) (*stintv1.JobExplanation, error) {
	t.Helper()
	raw, err := s.Clientset().RESTClient().Get().AbsPath("/apis/batch/v1/namespaces/default/jobs/" + name + "/why").Do(t.Context()).Raw()
	if err != nil {
		return nil, err
	}
	x := &stintv1.JobExplanation{}
	return x, json.Unmarshal(raw, x)
}

// becomesState waits until the Job's explanation has the state want.
func becomesState(t testing.TB, s *apiservertest.Server, name string, want stintv1.JobState) *stintv1.JobExplanation {
	t.Helper()
	var x *stintv1.JobExplanation
	var err error
	await.Until(t, fmt.Sprintf("%s is %s", name, want), func() bool {
		x, err = why(t, s, name)
		return err == nil && x.State == want
	}, func() string { return fmt.Sprintf("%+v, %v", x, err) })
	return x
}

// explicable returns a Job with one container, main.
func explicable(name string, change func(*batchv1.Job)) *batchv1.Job {
	return wrappers.MakeJob(name).Namespace("default").Containers("main").With(change).Obj()
}

func TestTheServerExplainsJobsByTheSettingsOfItsController(t *testing.T) {
	settings := jobcontroller.Options{PodFailureBackoff: time.Hour, MaxPodFailureBackoff: 2 * time.Hour}.Settings()
	s := apiservertest.Start(t, func(c *apiserver.Config) { c.Jobs = apiserver.JobOptions{Settings: &settings} })
	s.Control(jobcontroller.New(s.Client(), &record.FakeRecorder{}, jobcontroller.Options{
		PodFailureBackoff: time.Hour, MaxPodFailureBackoff: 2 * time.Hour}))
	jobs := s.Clientset().BatchV1().Jobs("default")
	for name, change := range map[string]func(*batchv1.Job){
		"fails":     func(*batchv1.Job) {},
		"suspended": func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) },
		"waits":     func(j *batchv1.Job) { j.Annotations = map[string]string{core.DependsOn: "fails"} },
		"external":  func(j *batchv1.Job) { j.Spec.ManagedBy = ptr.To("example.com/queue") },
	} {
		if _, err := jobs.Create(t.Context(), explicable(name, change), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	becomesState(t, s, "suspended", stintv1.JobSuspended)
	becomesState(t, s, "waits", stintv1.JobWaitingForJobs)
	becomesState(t, s, "external", stintv1.JobUnknownPlan)
	fail(t, s, "fails")
	x := becomesState(t, s, "fails", stintv1.JobDelayed)
	if left := x.Waits[0].Until.Sub(x.Waits[0].Since.Time); left != time.Hour || x.TimesAssumed {
		t.Errorf("a delay of %v, assumed %v; want the hour that the controller has", left, x.TimesAssumed)
	}
	if len(x.Failures) != 1 || ptr.Deref(x.Failures[0].ExitCode, 0) != 7 || x.Kind != "JobExplanation" || x.APIVersion != "stint.dev/v1" {
		t.Errorf("explained as %+v", x)
	}
	if _, err := why(t, s, "missing"); !apierrors.IsNotFound(err) {
		t.Errorf("of a Job that is not there: %v", err)
	}
}

// fail waits for the pod of a Job and sets its status to failed.
func fail(t testing.TB, s *apiservertest.Server, job string) {
	t.Helper()
	becomesState(t, s, job, stintv1.JobStarting)
	pods := s.Clientset().CoreV1().Pods("default")
	var list *corev1.PodList
	await.Until(t, "a pod of "+job, func() bool {
		var err error
		if list, err = pods.List(t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job}); err != nil {
			t.Fatal(err)
		}
		return len(list.Items) > 0
	})
	p := &list.Items[0]
	p.Status.Phase = corev1.PodFailed
	now := metav1.Now()
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 7, FinishedAt: now, StartedAt: now}}}}
	if _, err := pods.UpdateStatus(t.Context(), p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestWhereNoControllerRunsTheServerSaysSo(t *testing.T) {
	s := apiservertest.Start(t, func(c *apiserver.Config) { c.Jobs.NoController = true })
	if _, err := s.Clientset().BatchV1().Jobs("default").Create(t.Context(), explicable("a", func(*batchv1.Job) {}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// Do not check the state: it depends on the Job's age.
	x, err := why(t, s, "a")
	if err != nil || len(x.Waits) == 0 || x.Waits[0].For != stintv1.WaitForController || !strings.HasPrefix(x.Waits[0].Message, "no server runs") {
		t.Errorf("explained as %+v, %v", x, err)
	}
}

func TestJobsWhoseNameIsNoLabelAreExplainedWithTheirResults(t *testing.T) {
	s := apiservertest.Start(t)
	jobs := s.Clientset().BatchV1().Jobs("default")
	made, err := jobs.Create(t.Context(), explicable(strings.Repeat("long", 20), func(j *batchv1.Job) {
		j.Spec.ManualSelector = ptr.To(true)
		j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"of": "long"}}
		j.Spec.Template.Labels = j.Spec.Selector.MatchLabels
	}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made.Status.Failed = 1
	if _, err = jobs.UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = s.Client().ResultSlices().Create(t.Context(), &stintv1.ResultSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "slice",
			Labels: map[string]string{batchv1.ControllerUidLabel: string(made.UID)}, OwnerReferences: []metav1.OwnerReference{core.ControllerRef(made)}},
		Results: []stintv1.PodResult{{Pod: "gone", UID: "1", Phase: corev1.PodFailed}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if x, err := why(t, s, made.Name); err != nil || len(x.Failures) != 1 {
		t.Errorf("explained as %+v, %v", x, err)
	}
}
