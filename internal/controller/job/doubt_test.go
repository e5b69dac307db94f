package job

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/test/wrappers"
)

func TestPodsThatAFormerControllerMayHaveCounted(t *testing.T) {
	job := wrappers.MakeJob("j").UID(owner).ResourceVersion("10").UncountedSucceeded("listed").Obj()
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
