package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestPodsThatAFormerControllerMayHaveCounted(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{UID: owner, ResourceVersion: "10"},
		Status: batchv1.JobStatus{UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Succeeded: []types.UID{"listed"}}}}
	uid := func(uid types.UID) func(*corev1.Pod) { return func(p *corev1.Pod) { p.UID = uid } }
	bare := func(p *corev1.Pod) { p.Finalizers = nil }
	orphaned := func(p *corev1.Pod) { p.OwnerReferences = nil }
	tests := map[string]struct {
		pod       *corev1.Pod
		uncertain bool
	}{
		"ended and shown as it was before the status":  {version("9", ended), true},
		"told to end and shown as it was then":         {version("9", deleting), true},
		"shown with the finalizer after the status":    {version("11", ended), false},
		"listed, and so not counted":                   {version("9", ended, uid("listed")), false},
		"running":                                      {version("9"), true},
		"without the finalizer, whose fate is decided": {version("9", ended, bare), false},
		"an orphan, which may have been adopted":       {version("9", ended, bare, orphaned), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var want []*corev1.Pod
			if tt.uncertain {
				want = []*corev1.Pod{tt.pod}
			}
			if diff := cmp.Diff(want, uncertain(job, &job.ObjectMeta, []*corev1.Pod{tt.pod}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("asks for (-want +got):\n%s", diff)
			}
		})
	}
	f := foreign{}
	f.look(job)
	if f.unseen(job, []*corev1.Pod{version("9")}).Len() != 1 || f.unseen(job, []*corev1.Pod{version("9", uid("listed"))}).Len() != 0 {
		t.Error("a listed pod is unseen where it is shown, or the other way round")
	}
}
