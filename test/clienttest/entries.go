package clienttest

import (
	"maps"
	"slices"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/client"
)

// entries are the parts of an object's metadata to which several writers add.
type entries struct{ Finalizers, Owners, Labels []string }

func owner(uid string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Thing", Name: "t", UID: types.UID(uid)}
}

// add adds one entry of each sort, drop removes them.
func add(o client.Object, name, uid string) {
	o.SetFinalizers(append(o.GetFinalizers(), "example.com/"+name))
	o.SetOwnerReferences(append(o.GetOwnerReferences(), owner(uid)))
	labels := maps.Clone(o.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[name] = uid
	o.SetLabels(labels)
}

func drop(o client.Object, name, uid string) {
	finalizers := slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == "example.com/"+name })
	owners := slices.DeleteFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return string(r.UID) == uid })
	labels := maps.Clone(o.GetLabels())
	delete(labels, name)
	if len(finalizers)+len(owners)+len(labels) == 0 {
		finalizers, owners, labels = nil, nil, nil
	}
	o.SetFinalizers(finalizers)
	o.SetOwnerReferences(owners)
	o.SetLabels(labels)
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
