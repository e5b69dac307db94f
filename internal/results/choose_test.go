package results

import (
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// TestWhatHasNotBegunMayCome tells what is worth waiting for from what will never be.
func TestWhatHasNotBegunMayCome(t *testing.T) {
	running := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j"}, Spec: batchv1.JobSpec{
		CompletionMode: ptr.To(batchv1.IndexedCompletion), Completions: ptr.To[int32](3),
	}}
	ended := running.DeepCopy()
	ended.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	all := &stintv1.JobResults{Items: []stintv1.JobResult{
		{PodResult: stintv1.PodResult{Index: ptr.To[int32](0), Pod: "j-0", StartedAt: &metav1.Time{}}, Attempts: 1},
		{PodResult: stintv1.PodResult{Index: ptr.To[int32](1), Pod: "j-1", Reason: "ImagePullBackOff"}},
	}}
	tests := map[string]struct {
		job     *batchv1.Job
		choice  Choice
		want    string
		mayCome bool
	}{
		"an index without a pod": {running, Choice{Index: ptr.To[int64](2)}, "index 2 has not been started yet", true},
		"an index whose pod waits": {running, Choice{Index: ptr.To[int64](1)},
			"index 1 has not been started yet: ImagePullBackOff", true},
		"a further attempt": {running, Choice{Index: ptr.To[int64](0), Attempt: ptr.To[int64](2)},
			"there is no attempt 2: index 0 has 1 attempt", true},
		"an index of a Job that has ended":          {ended, Choice{Index: ptr.To[int64](2)}, "index 2 was never started", false},
		"one whose pod never started":               {ended, Choice{Index: ptr.To[int64](1)}, "index 1 was never started: ImagePullBackOff", false},
		"a further attempt of a Job that has ended": {ended, Choice{Index: ptr.To[int64](0), Attempt: ptr.To[int64](2)}, "there is no attempt 2: index 0 has 1 attempt", false},
		"an index that the Job does not have":       {running, Choice{Index: ptr.To[int64](3)}, "there is no index 3: job j has indexes 0 to 2", false},
		"an attempt that cannot be":                 {running, Choice{Index: ptr.To[int64](0), Attempt: ptr.To[int64](0)}, "there is no attempt 0: index 0 has 1 attempt", false},
		"one before the first":                      {running, Choice{Index: ptr.To[int64](0), Previous: true}, "there is no attempt at index 0 before the first", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Choose(tt.job, all, tt.choice)
			if err == nil || err.Error() != tt.want {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			if mayCome := errors.As(err, new(NotBegunError)); mayCome != tt.mayCome {
				t.Errorf("may come: %v, want %v", mayCome, tt.mayCome)
			}
		})
	}
}
