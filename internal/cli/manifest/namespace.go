package manifest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Scope reports whether a kind is namespaced. Only the server knows.
type Scope func(schema.GroupVersionKind) (namespaced bool, err error)

// InNamespace puts every object without a namespace into the given one. With demanded (the user gave -n) an object of another
// namespace is a problem. Then it looks for duplicates again.
func InNamespace(objects []*Object, namespace string, demanded bool, scope Scope) error {
	var problems Problems
	for _, o := range objects {
		namespaced, err := scope(o.GVK)
		own := o.Typed.GetNamespace()
		switch {
		case err != nil && !meta.IsNoMatchError(err):
			return fmt.Errorf("ask for the kinds that are served: %w", err)
		case err != nil:
			problems = append(problems, Problem{Place: o.Place, Field: "kind",
				Message: fmt.Sprintf("%s (%s) is not served here", o.GVK.Kind, o.GVK.GroupVersion()), Remedy: "remove it"})
		case !namespaced:
			o.SetNamespace("")
		case own == "":
			o.SetNamespace(namespace)
		case demanded && own != namespace:
			problems = append(problems, Problem{Place: o.Place, Field: "metadata.namespace",
				Message: fmt.Sprintf("is %q, but -n asks for %q", own, namespace),
				Remedy:  "leave one of them out"})
		}
	}
	if len(problems) == 0 {
		problems = duplicates(objects)
	}
	return problems.orNil()
}

// badNamespace checks the name of the namespace, as the client cannot send a request with an invalid one.
func badNamespace(o *Object) Problems {
	name := o.Typed.GetNamespace()
	if name == "" || len(validation.ValidateNamespaceName(name, false)) == 0 {
		return nil
	}
	return Problems{{Place: o.Place, Field: "metadata.namespace", Message: fmt.Sprintf("cannot be %q", name),
		Remedy: "a namespace has lower-case letters, digits and -"}}
}
