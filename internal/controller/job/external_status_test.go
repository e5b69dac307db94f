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
		"ended and shown as it was before the list":    {version("9", ended), true},
		"deleted and shown as it was before":           {version("9", deleting), true},
		"shown with the finalizer after the list":      {version("11", ended), false},
		"listed, and so not counted":                   {version("9", ended, uid("listed")), false},
		"running":                                      {version("9"), true},
		"without the finalizer, whose fate is decided": {version("9", ended, bare), false},
		"an orphan, which may have been adopted":       {version("9", ended, bare, orphaned), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := externalStatus{}
			f.observe(job)
			f.version = "10"
			var want []*corev1.Pod
			if tt.uncertain {
				want = []*corev1.Pod{tt.pod}
			}
			if diff := cmp.Diff(want, f.maybeDoubleCounted(job, []*corev1.Pod{tt.pod}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("asks for (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStatusThatCountsNoPodsLeavesNoneInDoubt(t *testing.T) {
	f, pods := externalStatus{}, []*corev1.Pod{version("9", ended)}
	job := wrappers.MakeJob("j").UID(owner).ResourceVersion("10").Obj()
	f.observe(job)
	if got := f.maybeDoubleCounted(job, pods); len(got) > 0 {
		t.Errorf("%d pods may be counted already", len(got))
	}
	counted := wrappers.FromJob(job.DeepCopy()).ResourceVersion("11").Obj()
	counted.Status.Succeeded = 1
	f.observe(counted)
	if got := f.maybeDoubleCounted(counted, pods); len(got) != 1 {
		t.Errorf("%d pods may be counted already, where the status counts one", len(got))
	}
	f.last = counted // It was written here.
	f.stateKnown.Insert("p")
	f.observe(counted)
	if got := f.maybeDoubleCounted(counted, pods); len(got) > 0 {
		t.Error("a pod of which the server was asked is in doubt still")
	}
}
