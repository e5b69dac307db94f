package remote

import (
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// metadataPatch compares what clients may change of an object's metadata. Others write it at the same time, so entries are
// added and taken one by one. It is made by hand because most changes are to finalizers alone.
func metadataPatch(before, after metav1.Object) map[string]any {
	patch := map[string]any{}
	put(patch, "$deleteFromPrimitiveList/finalizers", missing(before.GetFinalizers(), after.GetFinalizers()))
	put(patch, "finalizers", missing(after.GetFinalizers(), before.GetFinalizers()))
	put(patch, "ownerReferences", ownersPatch(before.GetOwnerReferences(), after.GetOwnerReferences()))
	for name, m := range map[string]map[string]any{
		"labels":      entriesPatch(before.GetLabels(), after.GetLabels()),
		"annotations": entriesPatch(before.GetAnnotations(), after.GetAnnotations()),
	} {
		if len(m) > 0 {
			patch[name] = m
		}
	}
	return patch
}

func put[T any](patch map[string]any, name string, list []T) {
	if len(list) > 0 {
		patch[name] = list
	}
}

// missing returns what is in list and not in other.
func missing(list, other []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(other, s) {
			out = append(out, s)
		}
	}
	return out
}

// ownersPatch relies on the API server to merge owner references by UID.
func ownersPatch(before, after []metav1.OwnerReference) (out []any) {
	find := func(list []metav1.OwnerReference, r metav1.OwnerReference) int {
		return slices.IndexFunc(list, func(o metav1.OwnerReference) bool { return o.UID == r.UID })
	}
	for _, r := range before {
		if find(after, r) < 0 {
			out = append(out, map[string]any{"$patch": "delete", "uid": r.UID})
		}
	}
	for _, r := range after {
		if i := find(before, r); i < 0 || !reflect.DeepEqual(before[i], r) {
			out = append(out, r)
		}
	}
	return out
}

// entriesPatch takes an entry with nil.
func entriesPatch(before, after map[string]string) map[string]any {
	if maps.Equal(before, after) {
		return nil
	}
	out := map[string]any{}
	for k, v := range after {
		if was, found := before[k]; !found || was != v {
			out[k] = v
		}
	}
	for k := range before {
		if _, found := after[k]; !found {
			out[k] = nil
		}
	}
	return out
}
