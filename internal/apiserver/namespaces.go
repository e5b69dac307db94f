package apiserver

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	storeerr "k8s.io/apiserver/pkg/storage/errors"
)

// namespaceREST serves namespaces, whose deletion takes three steps:
//
//	Active ── DELETE ──► Terminating ── a controller deletes its content, then PUT /finalize ──► gone
//
// The last step happens when spec.finalizers is empty.
type namespaceREST struct {
	*objectREST
	admission *namespaceAdmission
}

func newNamespaceREST(r *objectREST, a *namespaceAdmission, deleteEvents func(namespace string)) *namespaceREST {
	r.ShouldDeleteDuringUpdate = func(_ context.Context, _ string, obj, _ runtime.Object) bool {
		return len(obj.(*corev1.Namespace).Spec.Finalizers) == 0
	}
	r.AfterDelete = func(obj runtime.Object, options *metav1.DeleteOptions) {
		if len(options.DryRun) > 0 {
			return
		}
		name := obj.(*corev1.Namespace).Name
		a.forget(name)
		deleteEvents(name)
	}
	return &namespaceREST{objectREST: r, admission: a}
}

// Delete marks the namespace as terminating. It deletes it at once only if the namespace has no finalizers.
func (r *namespaceREST) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	obj, err := r.Get(ctx, name, &metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	ns := obj.(*corev1.Namespace)
	if len(ns.Spec.Finalizers) == 0 && len(ns.Finalizers) == 0 {
		return r.objectREST.Delete(ctx, name, validate, options)
	}
	if ns.DeletionTimestamp != nil {
		return ns, false, nil
	}
	marked, err := r.mark(ctx, ns, validate, options)
	if err != nil {
		return nil, false, err
	}
	if len(options.DryRun) == 0 {
		r.admission.markTerminating(name, marked.UID)
	}
	return marked, false, nil
}

// mark sets the deletion timestamp and the phase. It bypasses the update strategy, which does not allow a new deletion
// timestamp.
func (r *namespaceREST) mark(ctx context.Context, ns *corev1.Namespace, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (*corev1.Namespace, error) {
	key, err := r.KeyFunc(ctx, ns.Name)
	if err != nil {
		return nil, err
	}
	preconditions := storage.Preconditions{UID: &ns.UID}
	if p := options.Preconditions; p != nil {
		preconditions.ResourceVersion = p.ResourceVersion
		if p.UID != nil {
			preconditions.UID = p.UID
		}
	}
	out := &corev1.Namespace{}
	update := storage.SimpleUpdate(func(existing runtime.Object) (runtime.Object, error) {
		if validate != nil {
			if err := validate(ctx, existing); err != nil {
				return nil, err
			}
		}
		ns := existing.(*corev1.Namespace)
		if ns.DeletionTimestamp == nil {
			ns.DeletionTimestamp = new(metav1.Now())
		}
		ns.Status.Phase = corev1.NamespaceTerminating
		return ns, nil
	})
	err = r.Store.Storage.GuaranteedUpdate(ctx, key, out, false, &preconditions, update, len(options.DryRun) > 0, nil)
	return out, storeerr.InterpretDeleteError(err, r.DefaultQualifiedResource, ns.Name)
}

// newFinalizeREST returns the handler of namespaces/finalize, which writes spec.finalizers.
func newFinalizeREST(r *namespaceREST) *statusREST {
	finalizing := *r.Store
	finalizing.UpdateStrategy = finalizeStrategy{r.UpdateStrategy.(strategy)}
	return &statusREST{store: &finalizing, strategy: statusStrategy{r.UpdateStrategy.(strategy)}}
}

// finalizeStrategy takes everything from the request, except the status.
type finalizeStrategy struct{ strategy }

func (finalizeStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	ns, stored := obj.(*corev1.Namespace), old.(*corev1.Namespace)
	ns.Status = stored.Status
}

func (finalizeStrategy) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

// defaultNamespaces exist in every cluster.
var defaultNamespaces = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}

func ensureNamespaces(ctx context.Context, namespaces *genericregistry.Store, scheme *runtime.Scheme) error {
	ctx = genericapirequest.WithNamespace(ctx, metav1.NamespaceNone)
	for _, name := range defaultNamespaces {
		_, err := namespaces.Get(ctx, name, &metav1.GetOptions{})
		if err == nil {
			continue
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		scheme.Default(ns)
		if _, err := namespaces.Create(ctx, ns, nil, &metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}
