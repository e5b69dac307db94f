package apiserver

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// objectREST serves the objects of one kind.
type objectREST struct {
	*genericregistry.Store
	resource kinds.Resource
}

func (r objectREST) ShortNames() []string { return r.resource.ShortNames }

func (r objectREST) Categories() []string { return r.resource.Categories }

// Delete implements rest.GracefulDeleter.
func (r objectREST) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	r.warnOfOrphans(ctx, options)
	if r.resource.CheckGracefulDelete != nil {
		// The library needs two writes to delete an object that has a grace period. Do not stop between them when the
		// client leaves or the server stops.
		ctx = context.WithoutCancel(ctx)
	}
	return r.Store.Delete(ctx, name, validate, options)
}

// DeleteCollection implements rest.CollectionDeleter.
func (r objectREST) DeleteCollection(ctx context.Context, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions,
	list *metainternalversion.ListOptions) (runtime.Object, error) {
	r.warnOfOrphans(ctx, options)
	return r.Store.DeleteCollection(ctx, validate, options, list)
}

// warnOfOrphans warns a client that deletes without a propagation policy, if the default orphans the pods: few users expect
// that.
func (r objectREST) warnOfOrphans(ctx context.Context, options *metav1.DeleteOptions) {
	silent := options != nil && (options.PropagationPolicy != nil || options.OrphanDependents != nil) //nolint:staticcheck // old clients send it
	if r.resource.DefaultPropagation != metav1.DeletePropagationOrphan || silent {
		return
	}
	warning.AddWarning(ctx, "", "the pods of deleted "+r.resource.Plural+" stay by default: "+
		"set propagationPolicy=Background to delete them too, or propagationPolicy=Orphan to suppress this warning")
}

// returnsDeleted has the kinds whose deletion returns the object instead of a Status, as in Kubernetes.
var returnsDeleted = map[string]bool{"pods": true, "namespaces": true, "podtemplates": true, "serviceaccounts": true}

// newObjectREST makes the REST storage of one kind.
func newObjectREST(typer runtime.ObjectTyper, options generic.RESTOptionsGetter, r kinds.Resource) (*objectREST, error) {
	s := newStrategy(typer, r)
	group := r.Version.Group
	st := &genericregistry.Store{
		NewFunc:                   r.New,
		NewListFunc:               r.NewList,
		DefaultQualifiedResource:  schema.GroupResource{Group: group, Resource: r.Plural},
		SingularQualifiedResource: schema.GroupResource{Group: group, Resource: r.Singular},
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		ResetFieldsStrategy:       s,
		TableConvertor:            newTables(r),
		ReturnDeletedObject:       returnsDeleted[r.Plural],
	}
	if r.TTL != 0 {
		lifetimes := newEventLifetimes(r.TTL, time.Now)
		st.TTLFunc = func(runtime.Object, uint64, bool) (uint64, error) { return uint64(lifetimes.next().Seconds()), nil }
	}
	err := st.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options, AttrFunc: attributes(r)})
	if err != nil {
		return nil, fmt.Errorf("set up the storage of %s: %w", r.Plural, err)
	}
	return &objectREST{Store: st, resource: r}, nil
}

func newTables(r kinds.Resource) rest.TableConvertor {
	if r.Row == nil {
		return rest.NewDefaultTableConvertor(schema.GroupResource{Group: r.Version.Group, Resource: r.Plural})
	}
	return tables{r}
}

// attributes returns a function for the labels and fields by which selectors can select an object.
func attributes(r kinds.Resource) func(runtime.Object) (labels.Set, fields.Set, error) {
	return func(obj runtime.Object) (labels.Set, fields.Set, error) {
		m, err := meta.Accessor(obj)
		if err != nil {
			return nil, nil, err
		}
		set := r.Fields(obj)
		set["metadata.name"] = m.GetName()
		if !r.ClusterScoped {
			set["metadata.namespace"] = m.GetNamespace()
		}
		return labels.Set(m.GetLabels()), set, nil
	}
}

// statusREST serves /status with the same store, but another strategy.
type statusREST struct {
	store    *genericregistry.Store
	strategy statusStrategy
}

func newStatusREST(r *objectREST) *statusREST {
	s := statusStrategy{r.CreateStrategy.(strategy)}
	st := *r.Store
	st.UpdateStrategy = s
	st.ResetFieldsStrategy = s
	return &statusREST{store: &st, strategy: s}
}

func (r *statusREST) New() runtime.Object { return r.store.New() }

// Destroy does nothing: the store belongs to the main resource.
func (r *statusREST) Destroy() {}

func (r *statusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update implements rest.Updater.
//
//nolint:revive // the library's signature
func (r *statusREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	// A write to /status never creates an object.
	return r.store.Update(ctx, name, objInfo, createValidation, updateValidation, false, options)
}

func (r *statusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.strategy.GetResetFields()
}

func (r *statusREST) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, obj, options)
}
