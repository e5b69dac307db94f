package job

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/test/wrappers"
)

// epoch is when the Jobs of tests start.
var epoch = time.Unix(1_700_000_000, 0)

func at(seconds int) metav1.Time {
	return metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))
}

// aNewJob begins with a Job that no controller has seen.
func aNewJob() *wrappers.JobWrapper {
	return wrappers.MakeJob("j").Namespace("ns").UID("job-uid").Selector("job", "j")
}

// aJob begins with a started Job of 3 pods, 2 at a time.
func aJob() *wrappers.JobWrapper {
	return aNewJob().Completions(3).Parallelism(2).BackoffLimit(6).StartTime(at(0)).UncountedFailed()
}

// aPod begins with a pending pod of aJob.
func aPod(name string) *wrappers.PodWrapper {
	return wrappers.MakePodOf(aJob().Obj(), name).UID(types.UID(name)).Finalizers(batchv1.JobTrackingFinalizer).
		CreationTimestamp(at(0)).Phase(corev1.PodPending)
}

// observed is an observation a minute after the start.
func observed(j *batchv1.Job, pods ...*corev1.Pod) Observation {
	return Observation{Job: j, Pods: pods, Now: epoch.Add(time.Minute), Settings: DefaultSettings()}
}

func names(pods []*corev1.Pod) []string {
	var names []string
	for _, p := range pods {
		names = append(names, p.Name)
	}
	return names
}

func repeat(n int, make func(i int) *corev1.Pod) []*corev1.Pod {
	pods := []*corev1.Pod{}
	for i := range n {
		pods = append(pods, make(i))
	}
	return pods
}

func podNumber(i int) string { return fmt.Sprintf("p%d", i) }
