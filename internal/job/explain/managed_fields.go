package explain

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lastWriter returns which client last wrote the field at path, and when, according to the managed fields. Writes to
// subresources are left out: they are controllers' writes of the status.
func lastWriter(object metav1.Object, path ...string) (name string, at *metav1.Time) {
	for _, entry := range object.GetManagedFields() {
		newer := at == nil || entry.Time != nil && at.Before(entry.Time)
		if entry.Subresource == "" && entry.FieldsV1 != nil && newer && has(entry.FieldsV1.GetRawBytes(), path) {
			name, at = entry.Manager, entry.Time
		}
	}
	return name, at
}

func has(fields []byte, path []string) bool {
	if len(path) == 0 {
		return true
	}
	var set map[string]json.RawMessage
	if json.Unmarshal(fields, &set) != nil {
		return false
	}
	below, ok := set[path[0]]
	return ok && has(below, path[1:])
}
