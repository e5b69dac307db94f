package kinds

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
)

// SelectableField is a field for field selectors.
type SelectableField struct {
	Name  string
	Value func(obj runtime.Object) string
	// Usual is the value of nearly all objects. It is not stored, and selectors that ask for it ask for "" instead.
	Usual string
}

// smallMap is the number of entries up to which a map takes half the memory for each.
const smallMap = 8

// Fields returns the values of the selectable fields of an object. The server keeps them with every cached object, so those
// that are empty or usual are left out, and selectors take fields that are not there for empty.
func (r Resource) Fields(obj runtime.Object) fields.Set {
	set := make(fields.Set, smallMap)
	for _, f := range r.SelectableFields {
		if value := f.Value(obj); value != "" && value != f.Usual {
			set[f.Name] = value
		}
	}
	return set
}

// StoredValue returns the value in Fields of objects with this value.
func (f SelectableField) StoredValue(value string) string {
	if value == f.Usual {
		return ""
	}
	return value
}
