package run

import (
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// kube-apiserver and Stint default backoffLimit to the largest number if backoffLimitPerIndex is set.
func TestRetriesAreShownIfTheJobCountsThem(t *testing.T) {
	for name, c := range map[string]struct {
		spec batchv1.JobSpec
		want int32
	}{
		"by the Job":   {batchv1.JobSpec{BackoffLimit: ptr.To[int32](6)}, 6},
		"none allowed": {batchv1.JobSpec{BackoffLimit: ptr.To[int32](0)}, 0},
		"by the index": {batchv1.JobSpec{BackoffLimit: ptr.To[int32](math.MaxInt32), BackoffLimitPerIndex: ptr.To[int32](1)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tracked := &trackedJob{job: &batchv1.Job{Spec: c.spec}, waitingPods: newWaits()}
			if got := tracked.progress(time.Now()).Retries; got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
