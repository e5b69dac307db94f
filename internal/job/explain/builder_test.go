package explain

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/job"
)

// epoch is when the Jobs of tests start.
var epoch = time.Unix(1_700_000_000, 0)

func at(seconds int) metav1.Time {
	return metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))
}

// aJob is a started Job of 3 pods, 2 at a time; changes make it another.
func aJob(changes ...func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "j", Namespace: "ns", UID: "job-uid"},
		Spec: batchv1.JobSpec{
			Completions: ptr.To[int32](3), Parallelism: ptr.To[int32](2), BackoffLimit: ptr.To[int32](6),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"job": "j"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"job": "j"}},
				Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c"}}},
			},
		},
		Status: batchv1.JobStatus{StartTime: ptr.To(at(0)), UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}},
	}
	for _, change := range changes {
		change(j)
	}
	return j
}

func withIndexes(j *batchv1.Job) { j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion) }

func withSuspend(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }

// aPod is a pending pod of aJob.
func aPod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "ns", UID: types.UID(name), Labels: map[string]string{"job": "j"}, CreationTimestamp: at(0),
			Annotations: map[string]string{}, Finalizers: []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{job.ControllerRef(aJob())},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func withIndex(i int) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(i) }
}

func withFailures(n int) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(n) }
}

func running(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }

func succeeded(p *corev1.Pod) { exited(0, 0)(p) }

// exited ends a pod so many seconds after the epoch.
func exited(code int32, seconds int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodSucceeded
		if code != 0 {
			p.Status.Phase = corev1.PodFailed
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: at(seconds)}}}}
	}
}
