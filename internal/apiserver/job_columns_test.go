package apiserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/await"
)

// statusOf returns the column STATUS that kubectl get shows for a Job.
func statusOf(t *testing.T, s *apiservertest.Server, name string) string {
	t.Helper()
	raw, err := s.Clientset().BatchV1().RESTClient().Get().Namespace("default").Resource("jobs").Name(name).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Raw()
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(table.Rows[0].Cells[1])
}

// setPod waits for the Job's pod and writes its status.
func setPod(t *testing.T, s *apiservertest.Server, job string, status corev1.PodStatus) {
	t.Helper()
	pods := s.Clientset().CoreV1().Pods("default")
	await.Until(t, "the pod of "+job, func() bool {
		list, err := pods.List(t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
		if err != nil || len(list.Items) == 0 {
			return false
		}
		pod := &list.Items[0]
		pod.Status = status
		_, err = pods.UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
		return err == nil
	})
}

func TestTheColumnsOfGetDoNotContradictWhy(t *testing.T) {
	s := apiservertest.Start(t)
	s.Control(jobcontroller.New(s.Client(), &record.FakeRecorder{}, jobcontroller.Options{
		PodFailureBackoff: time.Hour, MaxPodFailureBackoff: time.Hour}))
	scheduled := func(status corev1.ConditionStatus, reason string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: status, Reason: reason}}}
	}
	ended := func(phase corev1.PodPhase, code int32) *corev1.PodStatus {
		return &corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{Name: "main",
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.Now()}}}}}
	}
	running := &corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}}
	for name, c := range map[string]struct {
		change func(*batchv1.Job)
		pod    *corev1.PodStatus
		state  stintv1.JobState
		status string
		// never is a part of the explanation's next steps. If it is empty, they must not contain the word.
		never string
	}{
		"suspended": {change: func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }, state: stintv1.JobSuspended, status: "Suspended", never: "never continues, unless it is resumed"},
		"paused":    {change: func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](0) }, state: stintv1.JobPaused, status: "Pending", never: "never gets pods, unless"},
		"waiting":   {change: func(j *batchv1.Job) { j.Annotations = map[string]string{core.DependsOn: "suspended"} }, state: stintv1.JobWaitingForJobs, status: "Waiting"},
		"external":  {change: func(j *batchv1.Job) { j.Spec.ManagedBy = ptr.To("example.com/queue") }, state: stintv1.JobUnknownPlan, status: "Pending"},
		"gated": {change: func(j *batchv1.Job) {
			j.Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
		}, pod: ptr.To(scheduled(corev1.ConditionFalse, corev1.PodReasonSchedulingGated)), state: stintv1.JobPodsWaiting, status: "Pending", never: "is never complete, unless the scheduling gates"},
		"unschedulable": {pod: ptr.To(scheduled(corev1.ConditionFalse, corev1.PodReasonUnschedulable)), state: stintv1.JobPodsWaiting, status: "Pending", never: "is never complete, unless its pods"},
		"delayed":       {pod: ended(corev1.PodFailed, 7), state: stintv1.JobDelayed, status: "Pending"},
		"running":       {pod: running, state: stintv1.JobRunning, status: "Running"},
		"complete":      {pod: ended(corev1.PodSucceeded, 0), state: stintv1.JobComplete, status: "Complete"},
		"failed":        {change: func(j *batchv1.Job) { j.Spec.BackoffLimit = ptr.To[int32](0) }, pod: ended(corev1.PodFailed, 7), state: stintv1.JobFailed, status: "Failed"},
	} {
		t.Run(name, func(t *testing.T) {
			job := explicable(name, func(*batchv1.Job) {})
			if c.change != nil {
				c.change(job)
			}
			if _, err := s.Clientset().BatchV1().Jobs("default").Create(t.Context(), job, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if c.pod != nil {
				setPod(t, s, name, *c.pod)
			}
			x := becomesState(t, s, name, c.state)
			await.Until(t, "the column is "+c.status, func() bool { return statusOf(t, s, name) == c.status }, func() string { return statusOf(t, s, name) })
			var next []string
			for _, step := range x.Next {
				next = append(next, step.What)
			}
			if got := strings.Join(next, "; "); !strings.Contains(got, c.never) || c.never == "" && strings.Contains(got, "never") {
				t.Errorf("next: %s; want %q", got, c.never)
			}
		})
	}
}
