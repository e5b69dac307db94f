package apiserver

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// strategy implements the library's strategies for create, update and delete with the functions of a Resource.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	resource kinds.Resource
}

func newStrategy(typer runtime.ObjectTyper, r kinds.Resource) strategy {
	return strategy{ObjectTyper: typer, NameGenerator: names.SimpleNameGenerator, resource: r}
}

func (s strategy) NamespaceScoped() bool { return !s.resource.ClusterScoped }

func (s strategy) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	if s.resource.PrepareForCreate != nil {
		s.resource.PrepareForCreate(ctx, obj)
	}
}

func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	m, err := meta.Accessor(obj)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("metadata"), err)}
	}
	errs := validateFinalizerNames(obj)
	if s.resource.Validate != nil {
		errs = append(errs, s.resource.Validate(ctx, obj)...)
	}
	check := s.resource.NameValidation
	if check == nil {
		check = apivalidation.NameIsDNSSubdomain
	}
	named := m.GetName() != "" && len(check(m.GetName(), false)) == 0
	if generate := m.GetGenerateName(); generate != "" && len(check(generate, true)) > 0 {
		named = false
	}
	if len(errs) == 0 && named {
		return nil // The library then validates the metadata.
	}
	// After an error the library would not validate the metadata. Do it here, so that users see all errors at once.
	return append(apivalidation.ValidateObjectMetaAccessor(m, s.NamespaceScoped(), check, field.NewPath("metadata")), errs...)
}

func (s strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	if s.resource.WarningsOnCreate == nil {
		return nil
	}
	return s.resource.WarningsOnCreate(ctx, obj)
}

func (strategy) Canonicalize(runtime.Object) {}

func (strategy) AllowCreateOnUpdate(context.Context) bool { return false }

func (strategy) AllowUnconditionalUpdate(context.Context) bool { return true }

func (s strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	if s.resource.PrepareForUpdate != nil {
		s.resource.PrepareForUpdate(ctx, obj, old)
	}
}

func (s strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	errs := validateFinalizerNames(obj)
	if s.resource.ValidateUpdate != nil {
		errs = append(errs, s.resource.ValidateUpdate(ctx, obj, old)...)
	}
	return errs
}

func (s strategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	if s.resource.WarningsOnUpdate == nil {
		return nil
	}
	return s.resource.WarningsOnUpdate(ctx, obj, old)
}

func (s strategy) CheckGracefulDelete(ctx context.Context, obj runtime.Object, options *metav1.DeleteOptions) bool {
	return s.resource.CheckGracefulDelete != nil && s.resource.CheckGracefulDelete(ctx, obj, options)
}

func (s strategy) DefaultGarbageCollectionPolicy(context.Context) rest.GarbageCollectionPolicy {
	switch {
	case s.resource.TTL != 0:
		// Objects that expire (events) must not wait for the garbage collector.
		return rest.Unsupported
	case s.resource.DefaultPropagation == metav1.DeletePropagationOrphan:
		return rest.OrphanDependents
	}
	return rest.DeleteDependents
}

// GetResetFields returns the fields that a server-side apply to the main resource never owns.
func (s strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	if s.resource.Status == nil {
		return nil
	}
	return resetFields(s.resource, fieldpath.MakePathOrDie("status"))
}

func resetFields(r kinds.Resource, paths ...fieldpath.Path) map[fieldpath.APIVersion]*fieldpath.Set {
	reset := map[fieldpath.APIVersion]*fieldpath.Set{}
	for _, version := range r.Versions() {
		reset[fieldpath.APIVersion(version.String())] = fieldpath.NewSet(paths...)
	}
	return reset
}

// statusStrategy is the strategy of /status.
type statusStrategy struct{ strategy }

func (s statusStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	if s.resource.Status.PrepareForUpdate != nil {
		s.resource.Status.PrepareForUpdate(ctx, obj, old)
	}
}

func (s statusStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	errs := validateFinalizerNames(obj)
	if s.resource.Status.ValidateUpdate != nil {
		errs = append(errs, s.resource.Status.ValidateUpdate(ctx, obj, old)...)
	}
	return errs
}

func (statusStrategy) WarningsOnUpdate(context.Context, runtime.Object, runtime.Object) []string {
	return nil
}

func (s statusStrategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	paths := []fieldpath.Path{fieldpath.MakePathOrDie("spec")}
	for _, name := range s.resource.Status.ResetFields {
		paths = append(paths, fieldpath.MakePathOrDie("metadata", name))
	}
	return resetFields(s.resource, paths...)
}
