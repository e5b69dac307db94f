package explain

import (
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
	return wrappers.MakeJob("j").Namespace("ns").UID("job-uid").CreationTimestamp(at(0)).Selector("job", "j").
		Completions(3).Parallelism(2).BackoffLimit(6)
}

// aJob begins with a started Job.
func aJob() *wrappers.JobWrapper { return aNewJob().StartTime(at(0)).UncountedFailed() }

// concluded begins with a Job that has had its last condition for ten seconds.
func concluded(kind batchv1.JobConditionType, reason, message string) *wrappers.JobWrapper {
	return aJob().ConditionSince(at(50), kind, reason, message)
}

// aPod begins with a pending pod of aJob.
func aPod(name string) *wrappers.PodWrapper {
	return wrappers.MakePodOf(aJob().Obj(), name).UID(types.UID(name)).Finalizers(batchv1.JobTrackingFinalizer).
		CreationTimestamp(at(0)).Phase(corev1.PodPending)
}
