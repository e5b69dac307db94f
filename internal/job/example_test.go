package job_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/job"
)

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// threeTasks is a Job as the API server stores it: three completions, two pods at a time.
func threeTasks() *batchv1.Job {
	labels := map[string]string{"job-name": "tasks"}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "tasks", Namespace: "default", UID: "tasks-uid"},
		Spec: batchv1.JobSpec{
			Completions:  ptr.To[int32](3),
			Parallelism:  ptr.To[int32](2),
			BackoffLimit: ptr.To[int32](6),
			Selector:     &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "busybox"}},
				},
			},
		},
		Status: batchv1.JobStatus{
			StartTime:               ptr.To(metav1.NewTime(noon)),
			UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
		},
	}
}

// podOf returns a pod that the controller has created for the Job.
func podOf(j *batchv1.Job, status corev1.PodStatus) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "tasks-x7k2p", Namespace: j.Namespace, UID: "pod-uid", Labels: j.Spec.Template.Labels,
			Finalizers:      []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{job.ControllerRef(j)},
		},
		Status: status,
	}
}

// A new Job gets as many pods as its parallelism allows. An Indexed one gets the lowest indexes first.
func ExampleDecide() {
	j := threeTasks()
	j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)

	d := job.Decide(job.Observation{Job: j, Now: noon, Settings: job.DefaultSettings()})

	for _, pod := range d.Create {
		fmt.Println("create the pod of index", pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	}
	status, _ := d.Status(job.Outcome{})
	fmt.Println("store: active", status.Active)
	// Output:
	// create the pod of index 0
	// create the pod of index 1
	// store: active 2
}

// A pod that has ended is counted in two steps, so that it is counted once whenever the controller dies: the status
// lists it first, and only then is its finalizer removed.
func ExampleDecide_counting() {
	j := threeTasks()
	ended := podOf(j, corev1.PodStatus{Phase: corev1.PodSucceeded})

	d := job.Decide(job.Observation{Job: j, Pods: []*corev1.Pod{ended}, Now: noon, Settings: job.DefaultSettings()})

	status, _ := d.Status(job.Outcome{})
	fmt.Println("store: uncounted", status.UncountedTerminatedPods.Succeeded, "succeeded", status.Succeeded)
	for _, pod := range d.RemoveFinalizer {
		fmt.Println("then remove the finalizer of", pod.Name)
	}
	// Output:
	// store: uncounted [pod-uid] succeeded 0
	// then remove the finalizer of tasks-x7k2p
}

// After a failure no pod is created until the delay is over. The decision says when to requeue the Job.
func ExampleDecide_backoff() {
	j := threeTasks()
	j.Spec.Parallelism = ptr.To[int32](1)
	failed := podOf(j, corev1.PodStatus{
		Phase: corev1.PodFailed,
		ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(noon)},
		}}},
	})
	later := noon.Add(4 * time.Second)

	d := job.Decide(job.ObserveStored(j, []*corev1.Pod{failed}, later, job.DefaultSettings()))

	fmt.Println("pods to create:", len(d.Create))
	fmt.Println("look again after", d.RequeueAfter)
	// Output:
	// pods to create: 0
	// look again after 6s
}
