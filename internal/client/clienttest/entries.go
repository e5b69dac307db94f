package clienttest

import (
	"maps"
	"slices"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// entries are those of an object's metadata that several writers share.
type entries struct{ Finalizers, Owners, Labels []string }

func owner(uid string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Thing", Name: "t", UID: types.UID(uid)}
}

// add adds one entry of each sort, drop takes them away.
func add(p *corev1.Pod, name, uid string) {
	p.Finalizers = append(p.Finalizers, "example.com/"+name)
	p.OwnerReferences = append(p.OwnerReferences, owner(uid))
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[name] = uid
}

func drop(p *corev1.Pod, name, uid string) {
	p.Finalizers = slices.DeleteFunc(p.Finalizers, func(f string) bool { return f == "example.com/"+name })
	p.OwnerReferences = slices.DeleteFunc(p.OwnerReferences, func(r metav1.OwnerReference) bool { return string(r.UID) == uid })
	delete(p.Labels, name)
	if len(p.Finalizers)+len(p.OwnerReferences)+len(p.Labels) == 0 {
		p.Finalizers, p.OwnerReferences, p.Labels = nil, nil, nil
	}
}

func (w *world) hasEntries(o metav1.Object, want entries) {
	w.Helper()
	got := entries{Finalizers: slices.Sorted(slices.Values(o.GetFinalizers())), Labels: slices.Sorted(maps.Keys(o.GetLabels()))}
	for _, r := range o.GetOwnerReferences() {
		got.Owners = append(got.Owners, string(r.UID))
	}
	slices.Sort(got.Owners)
	if d := cmp.Diff(want, got); d != "" {
		w.Errorf("what two writers made of it (-want +got):\n%s", d)
	}
}
