package remote

import (
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// metadataPatch returns the patch for the metadata that clients may change. It adds and removes single entries, because
// other clients write metadata at the same time. It does without reflection, because most changes are only to finalizers.
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

// missing returns the strings of list that other lacks.
func missing(list, other []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(other, s) {
			out = append(out, s)
		}
	}
	return out
}

// ownersPatch returns the patch for owner references, which the API server merges by UID.
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

// entriesPatch returns the patch for a map. A nil value removes an entry.
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
