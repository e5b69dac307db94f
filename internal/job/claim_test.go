package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/test/wrappers"
)

func TestAdoptionComesBeforeAllElse(t *testing.T) {
	orphan := aPod("a").Running().OwnerReferences().Obj()
	d := Decide(observed(aJob().Condition(batchv1.JobFailureTarget, "X").Obj(), orphan, aPod("b").Running().Obj(), aPod("c").Exited(0, at(0)).Obj()))
	if diff := cmp.Diff([]string{"a"}, names(d.Adopt)); diff != "" || !d.Requeue {
		t.Errorf("decides again: %v, adopts (-want +got):\n%s", d.Requeue, diff)
	}
	if next, _ := d.Status(Outcome{}); next != nil || len(d.Create)+len(d.DeleteWithoutCounting)+len(d.Delete)+len(d.RemoveFinalizer) > 0 {
		t.Errorf("and does more: %+v", d)
	}
}

func TestAdoptedPodsAreCountedOnce(t *testing.T) {
	orphan := func() *wrappers.PodWrapper { return aPod("a").OwnerReferences() }
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"a running pod will be counted":                         {orphan().Running().Finalizers().Label(batchv1.ControllerUidLabel, "job-uid").Obj(), true},
		"so will one of another Job that has ended":             {orphan().Exited(0, at(0)).Finalizers().Obj(), true},
		"and one that has ended but was not counted":            {orphan().Exited(0, at(0)).Label(batchv1.ControllerUidLabel, "job-uid").Obj(), true},
		"one that was made for the Job and counted will not be": {orphan().Exited(0, at(0)).Finalizers().Label(batchv1.ControllerUidLabel, "job-uid").Obj(), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			Adopt(aJob().Obj(), tt.pod)
			if len(tt.pod.OwnerReferences) != 1 || HasFinalizer(tt.pod) != tt.want {
				t.Errorf("owners %v, finalizers %v", tt.pod.OwnerReferences, tt.pod.Finalizers)
			}
		})
	}
}
