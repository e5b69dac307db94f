package apiserver

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

// ephemeralContainersREST serves pods/ephemeralcontainers with the store of the pods, but another strategy. A field manager owns
// all that it sends, also what the strategy restores, as in Kubernetes.
type ephemeralContainersREST struct{ store *genericregistry.Store }

func newEphemeralContainersREST(pods *objectREST) *ephemeralContainersREST {
	store := *pods.Store
	store.UpdateStrategy = ephemeralContainersStrategy{pods.UpdateStrategy.(strategy)}
	store.ResetFieldsStrategy = nil
	return &ephemeralContainersREST{&store}
}

func (r *ephemeralContainersREST) New() runtime.Object { return r.store.New() }

// Destroy does nothing: the store belongs to the pods.
func (*ephemeralContainersREST) Destroy() {}

func (r *ephemeralContainersREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update implements rest.Updater.
//
//nolint:revive // the library's signature
func (r *ephemeralContainersREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, objInfo, createValidation, updateValidation, false, options)
}

// ephemeralContainersStrategy is the strategy of pods/ephemeralcontainers.
type ephemeralContainersStrategy struct{ strategy }

func (s ephemeralContainersStrategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	s.resource.EphemeralContainers.PrepareForUpdate(ctx, obj, old)
}

func (s ephemeralContainersStrategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return s.resource.EphemeralContainers.ValidateUpdate(ctx, obj, old)
}

func (s ephemeralContainersStrategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return s.resource.EphemeralContainers.WarningsOnUpdate(ctx, obj, old)
}
