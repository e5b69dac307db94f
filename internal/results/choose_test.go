package results

import (
	"errors"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/wrappers"
)

// TestNotBegunErrors separates attempts that may still start from those that never will.
func TestNotBegunErrors(t *testing.T) {
	running := wrappers.MakeJob("j").Indexed().Completions(3).Obj()
	ended := wrappers.MakeJob("j").Indexed().Completions(3).Condition(batchv1.JobFailed, "").Obj()
	all := &stintv1.JobResults{Items: []stintv1.JobResult{
		{PodResult: stintv1.PodResult{Index: ptr.To[int32](0), Pod: "j-0", StartedAt: &metav1.Time{}}, Attempts: 1},
		{PodResult: stintv1.PodResult{Index: ptr.To[int32](1), Pod: "j-1", Reason: "ImagePullBackOff"}},
	}}
	tests := map[string]struct {
		job     *batchv1.Job
		choice  AttemptQuery
		want    string
		mayCome bool
	}{
		"an index without a pod": {running, AttemptQuery{Index: ptr.To[int64](2)}, "index 2 has not been started yet", true},
		"an index whose pod waits": {running, AttemptQuery{Index: ptr.To[int64](1)},
			"index 1 has not been started yet: ImagePullBackOff", true},
		"a further attempt": {running, AttemptQuery{Index: ptr.To[int64](0), Attempt: ptr.To[int64](2)},
			"there is no attempt 2: index 0 has 1 attempt", true},
		"an index of a Job that has ended":          {ended, AttemptQuery{Index: ptr.To[int64](2)}, "index 2 was never started", false},
		"one whose pod never started":               {ended, AttemptQuery{Index: ptr.To[int64](1)}, "index 1 was never started: ImagePullBackOff", false},
		"a further attempt of a Job that has ended": {ended, AttemptQuery{Index: ptr.To[int64](0), Attempt: ptr.To[int64](2)}, "there is no attempt 2: index 0 has 1 attempt", false},
		"an index that the Job does not have":       {running, AttemptQuery{Index: ptr.To[int64](3)}, "there is no index 3: job j has indexes 0 to 2", false},
		"an attempt that cannot be":                 {running, AttemptQuery{Index: ptr.To[int64](0), Attempt: ptr.To[int64](0)}, "there is no attempt 0: index 0 has 1 attempt", false},
		"one before the first":                      {running, AttemptQuery{Index: ptr.To[int64](0), Previous: true}, "there is no attempt at index 0 before the first", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Select(tt.job, all, tt.choice)
			if err == nil || err.Error() != tt.want {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			if mayCome := errors.As(err, new(NotBegunError)); mayCome != tt.mayCome {
				t.Errorf("may come: %v, want %v", mayCome, tt.mayCome)
			}
		})
	}
}

func TestSelect(t *testing.T) {
	job := wrappers.MakeJob("j").Obj()
	began := &metav1.Time{}
	all := &stintv1.JobResults{Items: []stintv1.JobResult{
		{PodResult: stintv1.PodResult{Pod: "a", StartedAt: began, Restarts: 1}, Attempts: 2},
		{PodResult: stintv1.PodResult{Pod: "b", StartedAt: began}, Attempts: 1},
	}}
	tests := map[string]struct {
		choice AttemptQuery
		want   string
	}{
		"the last":                {AttemptQuery{}, "attempt 3 at job j (pod b)"},
		"the first":               {AttemptQuery{Attempt: ptr.To[int64](1)}, "attempt 1 at job j (pod a)"},
		"the one before the last": {AttemptQuery{Previous: true}, "attempt 2 at job j (pod a)"},
		"the one before another":  {AttemptQuery{Attempt: ptr.To[int64](2), Previous: true}, "attempt 1 at job j (pod a)"},
		"the last of a pod":       {AttemptQuery{Pod: "a"}, "attempt 2 at pod a (pod a)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Select(job, all, tt.choice)
			if err != nil || got.String() != tt.want {
				t.Errorf("got %v, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestMissingResultsAreMentioned(t *testing.T) {
	job := wrappers.MakeJob("j").Indexed().Completions(3).Succeeded(2).Obj()
	plain := wrappers.MakeJob("p").Failed(1).Obj()
	for sentence, c := range map[string]struct {
		job     *batchv1.Job
		dropped int64
		choice  AttemptQuery
		want    string
	}{
		"an index whose result was not kept": {job, 0, AttemptQuery{Index: ptr.To[int64](1)},
			"index 1 has not been started yet, or is among the 2 of which no result was kept"},
		"an index whose result may have made room": {job, 2, AttemptQuery{Index: ptr.To[int64](1)},
			"index 1 has not been started yet, or is among the 2 oldest results, which are gone"},
		"a pod":                 {job, 0, AttemptQuery{Pod: "j-1-x"}, "job j has no pod j-1-x, or is among the 2 of which no result was kept"},
		"a Job without indexes": {plain, 0, AttemptQuery{}, "no results of the terminated pods of job p were kept"},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, err := Select(c.job, &stintv1.JobResults{Dropped: c.dropped}, c.choice)
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
