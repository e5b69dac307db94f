package persistentvolume_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/persistentvolume"
	"github.com/stint-dev/stint/test/wrappers"
)

func aPod(changes ...func(*corev1.Pod)) *corev1.Pod {
	return wrappers.MakePod("p").Namespace("ns").UID("p").With(changes...).Obj()
}

func TestWhichPodsMatterToAClaim(t *testing.T) {
	onNode := func(p *corev1.Pod) { p.Spec.NodeName = "here" }
	for sentence, c := range map[string]struct {
		pod                  *corev1.Pod
		isConsumer, protects bool
	}{
		"a new pod is a consumer":               {aPod(), true, false},
		"one with a gate is none yet":           {aPod(func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{}} }), false, false},
		"one that is being deleted is none":     {aPod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }), false, false},
		"one with a node protects the claim":    {aPod(onNode), true, true},
		"also while it is being deleted":        {aPod(onNode, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }), false, true},
		"one that has terminated is neither":    {aPod(onNode, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), false, false},
		"one that has terminated without start": {aPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), false, false},
	} {
		if got := core.IsConsumer(c.pod); got != c.isConsumer {
			t.Errorf("%s: consumer %t", sentence, got)
		}
		if got := core.Protects(c.pod); got != c.protects {
			t.Errorf("%s: protects %t", sentence, got)
		}
	}
}

func TestAPodNamesItsClaims(t *testing.T) {
	p := aPod(func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{
			{Name: "other", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
			{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		}
	})
	if got := core.ClaimsOf(p); !slices.Equal(got, []string{"data", "p-scratch"}) {
		t.Errorf("it names %v", got)
	}
	named := func(name string) func(*corev1.PersistentVolumeClaim) {
		return func(c *corev1.PersistentVolumeClaim) { c.Name = name }
	}
	owned := func(c *corev1.PersistentVolumeClaim) {
		c.OwnerReferences = []metav1.OwnerReference{{UID: "p", Kind: "Pod", Name: "p", Controller: ptr.To(true)}}
	}
	for sentence, c := range map[string]struct {
		claim *corev1.PersistentVolumeClaim
		want  bool
	}{
		"its claim":                             {aClaim(), true},
		"a claim of another namespace":          {aClaim(func(c *corev1.PersistentVolumeClaim) { c.Namespace = "other" }), false},
		"the claim of its ephemeral volume":     {aClaim(named("p-scratch"), owned), true},
		"a claim of that name, which is not it": {aClaim(named("p-scratch")), false},
	} {
		if got := core.Names(p, c.claim); got != c.want {
			t.Errorf("%s: %t", sentence, got)
		}
	}
}
