package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestAdoptionComesBeforeAllElse(t *testing.T) {
	orphan := aPod("a", running, func(p *corev1.Pod) { p.OwnerReferences = nil })
	d := Decide(seen(aJob(withCondition(batchv1.JobFailureTarget, "X")), orphan, aPod("b", running), aPod("c", succeeded)))
	if diff := cmp.Diff([]string{"a"}, names(d.Adopt)); diff != "" || !d.Again {
		t.Errorf("decides again: %v, adopts (-want +got):\n%s", d.Again, diff)
	}
	if next, _ := d.Status(Outcome{}); next != nil || len(d.Create)+len(d.Discard)+len(d.Delete)+len(d.Release) > 0 {
		t.Errorf("and does more: %+v", d)
	}
}

func TestAdoptedPodsAreCountedOnce(t *testing.T) {
	orphan := func(p *corev1.Pod) { p.OwnerReferences = nil }
	made := func(p *corev1.Pod) { p.Labels = map[string]string{"job": "j", batchv1.ControllerUidLabel: "job-uid"} }
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"a running pod will be counted":                         {aPod("a", orphan, running, released, made), true},
		"so will one of another Job that has ended":             {aPod("a", orphan, succeeded, released), true},
		"and one that has ended but was not counted":            {aPod("a", orphan, succeeded, made), true},
		"one that was made for the Job and counted will not be": {aPod("a", orphan, succeeded, released, made), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			Adopt(aJob(), tt.pod)
			if len(tt.pod.OwnerReferences) != 1 || HasFinalizer(tt.pod) != tt.want {
				t.Errorf("owners %v, finalizers %v", tt.pod.OwnerReferences, tt.pod.Finalizers)
			}
		})
	}
}
