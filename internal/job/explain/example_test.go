package explain_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/job/explain"
)

// An explanation is made from the same observation as a decision, here of a Job whose first pod failed four seconds ago.
func ExampleJob() {
	noon := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	labels := map[string]string{"job-name": "report"}
	report := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "report", Namespace: "default", UID: "uid", CreationTimestamp: metav1.NewTime(noon)},
		Spec: batchv1.JobSpec{
			Completions:  ptr.To[int32](1),
			Parallelism:  ptr.To[int32](1),
			BackoffLimit: ptr.To[int32](6),
			Selector:     &metav1.LabelSelector{MatchLabels: labels},
			Template:     corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}},
		},
		Status: batchv1.JobStatus{
			StartTime: ptr.To(metav1.NewTime(noon)), Failed: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
		},
	}
	failed := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "report-x7k2p", Namespace: "default", UID: "pod-uid", Labels: labels,
			OwnerReferences: []metav1.OwnerReference{job.ControllerRef(report)},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodFailed,
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(noon.Add(10 * time.Second))},
			}}},
		},
	}
	now := noon.Add(14 * time.Second)

	obs := job.ObserveStored(report, []*corev1.Pod{failed}, now, job.DefaultSettings())
	x := explain.Job(obs, explain.Circumstances{})

	fmt.Println(x.State, "since", x.Since.UTC().Format(time.TimeOnly))
	for _, wait := range x.Waits {
		fmt.Println("waits for:", wait.Message)
	}
	for _, step := range x.Next {
		fmt.Println("next:", step.What)
	}
	// Output:
	// Delayed since 12:00:10
	// waits for: 10s after 1 failure in a row
	// next: fails when 6 more pods fail
	// next: gets its next pod
}
