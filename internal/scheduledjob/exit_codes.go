package scheduledjob

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
)

const (
	// noExitCode is the code of a failed pod none of whose containers failed: it was evicted, or never started.
	noExitCode = -1
	// maxExitCodes and maxIndexesWritten keep the list small.
	maxExitCodes      = 16
	maxIndexesWritten = 256
)

// ExitCodes returns the exit codes of the last terminated pod of each index, ordered by code. Pods of other Jobs do not
// count. Of more than 16 codes it returns the most frequent ones.
func ExitCodes(run *batchv1.Job, pods []*corev1.Pod) []stintv1.ExitCode {
	indexes := map[int32][]int{}
	for index, pod := range lastPods(run, pods) {
		code := exitCode(pod)
		indexes[code] = append(indexes[code], index)
	}
	var codes []stintv1.ExitCode
	for code, of := range indexes {
		codes = append(codes, stintv1.ExitCode{Code: code, Pods: int32(len(of)), Indexes: indexList(of)})
	}
	slices.SortFunc(codes, func(a, b stintv1.ExitCode) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(a.Code, b.Code))
	})
	codes = codes[:min(len(codes), maxExitCodes)]
	slices.SortFunc(codes, func(a, b stintv1.ExitCode) int { return cmp.Compare(a.Code, b.Code) })
	return codes
}

func indexList(indexes []int) string {
	s := job.Indexes(nil).With(indexes...).String()
	if len(s) > maxIndexesWritten {
		return ""
	}
	return s
}

func lastPods(run *batchv1.Job, pods []*corev1.Pod) map[int]*corev1.Pod {
	last := map[int]*corev1.Pod{}
	for _, p := range pods {
		index := job.IndexOf(p)
		if _, indexed := p.Annotations[batchv1.JobCompletionIndexAnnotation]; !indexed || index < 0 || !podstatus.IsTerminated(p) || !metav1.IsControlledBy(p, run) {
			continue
		}
		if old := last[index]; old == nil || byAttempt(old, p) < 0 {
			last[index] = p
		}
	}
	return last
}

// byAttempt orders the pods of an index. One that succeeded is the last. The failure counts in the annotations come before
// times, as these have whole seconds and cannot order pods that end sooner.
func byAttempt(a, b *corev1.Pod) int {
	return cmp.Or(
		cmp.Compare(successes(a), successes(b)),
		cmp.Compare(failuresBefore(a), failuresBefore(b)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		podEnd(a).Compare(podEnd(b)),
		cmp.Compare(a.Name, b.Name))
}

func successes(p *corev1.Pod) int {
	if p.Status.Phase == corev1.PodSucceeded {
		return 1
	}
	return 0
}

func failuresBefore(p *corev1.Pod) int {
	counted, _ := strconv.Atoi(p.Annotations[batchv1.JobIndexFailureCountAnnotation])
	ignored, _ := strconv.Atoi(p.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation])
	return counted + ignored
}

func podEnd(p *corev1.Pod) time.Time {
	var end time.Time
	for _, c := range p.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil && t.FinishedAt.After(end) {
			end = t.FinishedAt.Time
		}
	}
	return end
}

// exitCode is that of the container that failed first; of those that failed in the same second, the one listed first.
func exitCode(p *corev1.Pod) int32 {
	if p.Status.Phase == corev1.PodSucceeded {
		return 0
	}
	var first *corev1.ContainerStateTerminated
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		t := c.State.Terminated
		if t == nil || t.ExitCode == 0 || isSidecar(p, c.Name) {
			continue
		}
		if first == nil || t.FinishedAt.Before(&first.FinishedAt) {
			first = t
		}
	}
	if first == nil {
		return noExitCode
	}
	return first.ExitCode
}

// isSidecar reports whether a container is a sidecar, an init container that is always restarted. Its exit code does not count.
func isSidecar(p *corev1.Pod, name string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
	})
}
