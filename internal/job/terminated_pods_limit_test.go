package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/test/wrappers"
)

func TestSucceededPodsBeyondTheLimitGoWithTheirFinalizer(t *testing.T) {
	succeeded := func(name string) *wrappers.PodWrapper { return aPod(name).Exited(0, at(10)) }
	failed := func(name string) *wrappers.PodWrapper { return aPod(name).Exited(1, at(10)) }
	alone := func(n int) TerminatedPods { return TerminatedPods{Total: n, OfJob: n, Most: n} }
	many := func() *wrappers.JobWrapper { return aJob().Completions(10) }
	for sentence, tt := range map[string]struct {
		job   *wrappers.JobWrapper
		limit int
		left  TerminatedPods
		pods  []*wrappers.PodWrapper
		want  []string
	}{
		"without a limit all stay":          {many(), 0, alone(100), []*wrappers.PodWrapper{succeeded("a")}, nil},
		"while there is room, a pod stays":  {many(), 2, alone(1), []*wrappers.PodWrapper{succeeded("a")}, nil},
		"as many stay as there is room for": {many(), 3, alone(1), []*wrappers.PodWrapper{succeeded("a"), succeeded("b"), succeeded("c"), succeeded("d")}, []string{"c", "d"}},
		"beyond the limit none stays":       {many(), 3, alone(3), []*wrappers.PodWrapper{succeeded("a"), succeeded("b")}, []string{"a", "b"}},
		"there may be more than the limit":  {many(), 3, alone(7), []*wrappers.PodWrapper{succeeded("a")}, []string{"a"}},
		"a failed pod stays, and takes room": {many(), 2, alone(0), []*wrappers.PodWrapper{failed("a"), failed("b"), failed("c"), succeeded("d")},
			[]string{"d"}},
		"so does one with another finalizer": {many(), 1, alone(1), []*wrappers.PodWrapper{succeeded("a").Finalizers(batchv1.JobTrackingFinalizer, "example.com/f")}, nil},
		"one that is deleted takes no room": {many().Condition(batchv1.JobSuccessCriteriaMet, "x"), 1, alone(0),
			[]*wrappers.PodWrapper{aPod("a").Running().DeletionTimestamp(at(20)), succeeded("b")}, nil},
		"one that is deleted goes anyway": {many(), 1, alone(1), []*wrappers.PodWrapper{succeeded("a").DeletionTimestamp(at(20))}, nil},
		"those of another Job take room":  {many(), 20, TerminatedPods{Total: 20, OfJob: 10, Most: 10}, []*wrappers.PodWrapper{succeeded("a")}, []string{"a"}},
		"a pod stays if another Job has left more, which then go": {many(), 20, TerminatedPods{Total: 20, OfJob: 9, Most: 11}, []*wrappers.PodWrapper{succeeded("a"), succeeded("b"), succeeded("c")},
			[]string{"c"}},
		"and while the Job has left next to nothing": {many(), 30, TerminatedPods{Total: 30, OfJob: 1, Most: 1}, []*wrappers.PodWrapper{succeeded("a"), succeeded("b"), succeeded("c")},
			[]string{"c"}},
		"also of an indexed Job": {many().Indexed(), 1, alone(1), []*wrappers.PodWrapper{succeeded("a").Index(0)},
			[]string{"a"}},
		"the garbage collector has the pods of a deleted Job": {many().DeletionTimestamp(at(20)), 1, alone(1), []*wrappers.PodWrapper{succeeded("a")}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			var pods []*corev1.Pod
			for _, p := range tt.pods {
				pods = append(pods, p.Obj())
			}
			obs := observed(tt.job.Obj(), pods...)
			obs.TerminatedPodsLimit, obs.TerminatedPods = tt.limit, tt.left
			d := Decide(obs)
			if diff := cmp.Diff(tt.want, names(d.DeleteCounted)); diff != "" {
				t.Error(diff)
			}
			if len(d.RemoveFinalizer) != len(pods) {
				t.Errorf("%d finalizers are removed, want %d", len(d.RemoveFinalizer), len(pods))
			}
		})
	}
}

func TestAFailedPodThatIsAboutToBeDeletedTakesNoRoom(t *testing.T) {
	obs := observed(aJob().Annotation(FailedPodsLimit, "0").Obj(), aPod("s").Exited(0, at(10)).Obj())
	obs.FailedPods = []*corev1.Pod{aPod("f").Exited(1, at(5)).Finalizers().Obj()}
	obs.TerminatedPodsLimit, obs.TerminatedPods = 1, TerminatedPods{Total: 1, OfJob: 1, Most: 1}
	d := Decide(obs)
	if diff := cmp.Diff([]string{"f"}, names(d.DeleteFailed)); diff != "" {
		t.Error(diff)
	}
	if len(d.DeleteCounted) > 0 {
		t.Errorf("%v is deleted, though it is the only terminated pod left", names(d.DeleteCounted))
	}
}
