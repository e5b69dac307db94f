package results_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/wrappers"
)

func at(seconds int) metav1.Time { return metav1.Unix(1_700_000_000+int64(seconds), 0) }

func aJob(mode batchv1.CompletionMode) *batchv1.Job {
	return wrappers.MakeJob("j").Namespace("ns").UID("job-uid").CompletionMode(mode).Obj()
}

func owned(job *batchv1.Job) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
}

// aPod is pod n of job, made at second n, with one container.
func aPod(job *batchv1.Job, n int, changes ...func(*corev1.Pod)) *corev1.Pod {
	return wrappers.MakePod(fmt.Sprintf("pod-%d", n)).UID(types.UID(fmt.Sprintf("uid-%d", n))).CreationTimestamp(at(n)).
		Controller(job).NodeName("node").Containers("main").With(changes...).Obj()
}

func index(i int) func(*corev1.Pod) { return func(p *corev1.Pod) { wrappers.FromPod(p).Index(i) } }

// exit ends the pod's containers, in their order, a second after they started.
func exit(codes ...int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Phase = corev1.PodSucceeded
		p.Status.ContainerStatuses = nil
		for i, code := range codes {
			reason := "Completed"
			if code != 0 {
				reason, p.Status.Phase = "Error", corev1.PodFailed
			}
			start := metav1.NewTime(p.CreationTimestamp.Add(time.Duration(i) * time.Second))
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: p.Spec.Containers[i].Name,
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					ExitCode: code, Reason: reason, StartedAt: start, FinishedAt: metav1.NewTime(start.Add(time.Second)),
				}},
			})
		}
	}
}

// said is the termination message of the first container.
func said(message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Terminated.Message = message }
}

func aSlice(job *batchv1.Job, results ...stintv1.PodResult) stintv1.ResultSlice {
	return stintv1.ResultSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", OwnerReferences: owned(job)}, Results: results}
}
