package ttl_test

import (
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/controller/ttl"
)

func TestExpiry(t *testing.T) {
	end := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	finished := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) []batchv1.JobCondition {
		return []batchv1.JobCondition{{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(end)}}
	}
	for sentence, c := range map[string]struct {
		ttl        *int32
		conditions []batchv1.JobCondition
		deleted    bool
		want       *time.Time
	}{
		"a complete Job goes after its time":               {ttl: ptr.To[int32](60), conditions: finished(batchv1.JobComplete, "True"), want: ptr.To(end.Add(time.Minute))},
		"a failed Job too":                                 {ttl: ptr.To[int32](60), conditions: finished(batchv1.JobFailed, "True"), want: ptr.To(end.Add(time.Minute))},
		"nothing is at once":                               {ttl: ptr.To[int32](0), conditions: finished(batchv1.JobComplete, "True"), want: ptr.To(end)},
		"without a time it stays":                          {conditions: finished(batchv1.JobComplete, "True")},
		"a Job that runs stays":                            {ttl: ptr.To[int32](0)},
		"a Job about to fail still runs":                   {ttl: ptr.To[int32](0), conditions: finished(batchv1.JobFailureTarget, "True")},
		"a condition that is not met is none":              {ttl: ptr.To[int32](0), conditions: finished(batchv1.JobComplete, "False")},
		"the longest time is 68 years":                     {ttl: ptr.To[int32](math.MaxInt32), conditions: finished(batchv1.JobComplete, "True"), want: ptr.To(end.Add(math.MaxInt32 * time.Second))},
		"less than no time makes no sense: it stays":       {ttl: ptr.To[int32](-1), conditions: finished(batchv1.JobComplete, "True")},
		"an end that does not tell its time: it stays":     {ttl: ptr.To[int32](0), conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}},
		"a Job that has met its success policy still runs": {ttl: ptr.To[int32](0), conditions: finished(batchv1.JobSuccessCriteriaMet, "True")},
		"a suspended Job stays":                            {ttl: ptr.To[int32](0), conditions: finished(batchv1.JobSuspended, "True")},
		"a Job on its way out goes anyway":                 {ttl: ptr.To[int32](0), conditions: finished(batchv1.JobComplete, "True"), deleted: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			job := &batchv1.Job{Spec: batchv1.JobSpec{TTLSecondsAfterFinished: c.ttl}, Status: batchv1.JobStatus{Conditions: c.conditions}}
			if c.deleted {
				job.DeletionTimestamp = ptr.To(metav1.NewTime(end))
			}
			got, ok := ttl.Expiry(job)
			if ok != (c.want != nil) || ok && !got.Equal(*c.want) {
				t.Errorf("expires at %v (%v), want %v", got, ok, c.want)
			}
		})
	}
}
