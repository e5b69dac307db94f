package v1beta1

import (
	"bytes"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// names are the names that metadata.managedFields has for a version and for the one field that the versions name
// differently.
type names struct{ version, field string }

var (
	batchNames = names{batchv1.SchemeGroupVersion.String(), "manualSelector"}
	ownNames   = names{SchemeGroupVersion.String(), "autoSelector"}
)

func (w names) path() fieldpath.Path { return fieldpath.MakePathOrDie("spec", w.field) }

// rename returns the entries with those of version from converted to version to. It does not change its argument, which
// may be shared with a cache.
func rename(entries []metav1.ManagedFieldsEntry, from, to names) []metav1.ManagedFieldsEntry {
	inFrom := func(e metav1.ManagedFieldsEntry) bool { return e.APIVersion == from.version }
	if !slices.ContainsFunc(entries, inFrom) {
		return entries
	}
	entries = slices.Clone(entries)
	for i := range entries {
		if inFrom(entries[i]) {
			entries[i].APIVersion = to.version
			entries[i].FieldsV1 = renameField(entries[i].FieldsV1, from, to)
		}
	}
	return entries
}

// renameField renames the field in fields. It returns fields unchanged if they do not contain it or cannot be parsed.
func renameField(fields *metav1.FieldsV1, from, to names) *metav1.FieldsV1 {
	if fields == nil || !bytes.Contains(fields.GetRawBytes(), []byte(from.field)) {
		return fields
	}
	set := &fieldpath.Set{}
	if err := set.FromJSON(fields.GetRawReader()); err != nil || !set.Has(from.path()) {
		return fields
	}
	set = set.Difference(fieldpath.NewSet(from.path()))
	set.Insert(to.path())
	raw, err := set.ToJSON()
	if err != nil {
		return fields
	}
	return metav1.NewFieldsV1(string(raw))
}
