package registry

import (
	"context"
	"slices"
	"time"

	nodev1 "k8s.io/api/node/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// DefaultRuntimeClasses returns new objects for the RuntimeClasses that always exist.
func DefaultRuntimeClasses() []*nodev1.RuntimeClass {
	var classes []*nodev1.RuntimeClass
	for _, name := range pod.DefaultRuntimeClassNames {
		classes = append(classes, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Handler: name})
	}
	return classes
}

// RuntimeClass describes RuntimeClasses. A pod names one to choose the handler that runs it.
func RuntimeClass(o pod.Options) kinds.Resource {
	return kinds.Resource{
		Version:       nodev1.SchemeGroupVersion,
		Kind:          "RuntimeClass",
		Plural:        "runtimeclasses",
		Singular:      "runtimeclass",
		ClusterScoped: true,
		New:           func() runtime.Object { return &nodev1.RuntimeClass{} },
		NewList:       func() runtime.Object { return &nodev1.RuntimeClassList{} },

		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			class := obj.(*nodev1.RuntimeClass)
			return append(validateHandler(class, o, field.NewPath("handler")), validateRuntimeClass(class)...)
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			class := obj.(*nodev1.RuntimeClass)
			errs := apivalidation.ValidateImmutableField(class.Handler, old.(*nodev1.RuntimeClass).Handler, field.NewPath("handler"))
			return append(errs, validateRuntimeClass(class)...)
		},
		Columns: []metav1.TableColumnDefinition{
			kinds.NameColumn,
			{Name: "Handler", Type: "string", Description: nodev1.RuntimeClass{}.SwaggerDoc()["handler"]},
			kinds.AgeColumn,
		},
		Row: func(obj runtime.Object, now time.Time) []any {
			class := obj.(*nodev1.RuntimeClass)
			return []any{class.Name, class.Handler, kinds.Age(class.CreationTimestamp, now)}
		},
	}
}

func validateHandler(class *nodev1.RuntimeClass, o pod.Options, p *field.Path) field.ErrorList {
	const choose = "choose oci (containers run from their image) or process (they run programs of this machine)"
	if class.Handler == "" {
		return field.ErrorList{field.Required(p, choose)}
	}
	var errs field.ErrorList
	for _, msg := range apivalidation.NameIsDNSLabel(class.Handler, false) {
		errs = append(errs, field.Invalid(p, class.Handler, msg))
	}
	switch {
	case len(errs) > 0:
	case slices.Contains(pod.DefaultRuntimeClassNames, class.Name) && class.Handler != class.Name:
		errs = append(errs, field.Invalid(p, class.Handler,
			"the RuntimeClass "+class.Name+" has the handler "+class.Name+": give yours another name"))
	case o.Node != nil && !slices.Contains(pod.DefaultRuntimeClassNames, class.Handler):
		errs = append(errs, field.Invalid(p, class.Handler,
			"is not a handler of this machine: "+choose+"; others, through CRI, are not supported yet"))
	}
	return errs
}

// validateRuntimeClass validates the fields that can change.
func validateRuntimeClass(class *nodev1.RuntimeClass) field.ErrorList {
	var errs field.ErrorList
	if class.Overhead != nil && len(class.Overhead.PodFixed) > 0 {
		errs = append(errs, field.Forbidden(field.NewPath("overhead", "podFixed"),
			"the overhead of pods is not supported yet: remove it"))
	}
	if class.Scheduling == nil {
		return errs
	}
	p := field.NewPath("scheduling")
	errs = append(errs, metav1validation.ValidateLabels(class.Scheduling.NodeSelector, p.Child("nodeSelector"))...)
	errs = append(errs, pod.ValidateTolerations(class.Scheduling.Tolerations, p.Child("tolerations"))...)
	for i, t := range class.Scheduling.Tolerations {
		for _, earlier := range class.Scheduling.Tolerations[:i] {
			if apiequality.Semantic.DeepEqual(t, earlier) {
				errs = append(errs, field.Duplicate(p.Child("tolerations").Index(i), t))
				break
			}
		}
	}
	return errs
}
