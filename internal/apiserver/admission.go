package apiserver

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
)

// undeletableNamespaces are the namespaces that cannot be deleted.
var undeletableNamespaces = map[string]bool{metav1.NamespaceDefault: true, metav1.NamespaceSystem: true, metav1.NamespacePublic: true}

// namespaceAdmission allows new objects only in namespaces that exist and are not being deleted.
type namespaceAdmission struct {
	namespaces *genericregistry.Store

	// terminating has the namespaces whose deletion this server has accepted. The cache shows it a moment later.
	terminating sync.Map // name → types.UID
}

func (a *namespaceAdmission) Handles(op admission.Operation) bool {
	return op == admission.Create || op == admission.Delete
}

// Admit runs before validation, so that a missing namespace is reported before anything about the object.
func (a *namespaceAdmission) Admit(ctx context.Context, attrs admission.Attributes, _ admission.ObjectInterfaces) error {
	isNamespace := attrs.GetResource().GroupResource() == schema.GroupResource{Resource: "namespaces"}
	switch {
	case attrs.GetOperation() == admission.Delete && isNamespace:
		return a.admitDeletion(attrs.GetName())
	case attrs.GetOperation() != admission.Create || isNamespace:
		return nil
	}
	return a.AdmitCreation(ctx, attrs.GetResource().GroupResource(), attrs.GetNamespace(), attrs.GetName())
}

func (a *namespaceAdmission) admitDeletion(name string) error {
	if !undeletableNamespaces[name] {
		return nil
	}
	return apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, name, fmt.Errorf("this namespace may not be deleted"))
}

// AdmitCreation does the same check for callers that do not use the HTTP handlers.
func (a *namespaceAdmission) AdmitCreation(ctx context.Context, resource schema.GroupResource, namespace, name string) error {
	if namespace == "" {
		return nil
	}
	ns, err := a.get(ctx, namespace)
	if err != nil {
		return err
	}
	uid, deleted := a.terminating.Load(namespace)
	if ns.Status.Phase != corev1.NamespaceTerminating && ns.DeletionTimestamp == nil && (!deleted || uid != ns.UID) {
		return nil
	}
	refused := apierrors.NewForbidden(resource, name,
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", namespace))
	refused.ErrStatus.Details.Causes = append(refused.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", namespace),
		Field:   "metadata.namespace",
	})
	return refused
}

// get reads the namespace from the cache or, if the cache does not have it yet, from the store.
func (a *namespaceAdmission) get(ctx context.Context, name string) (*corev1.Namespace, error) {
	// Errors must name the namespace, not the object of the request.
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{Resource: "namespaces"})
	obj, err := a.namespaces.Get(ctx, name, &metav1.GetOptions{ResourceVersion: "0"})
	if apierrors.IsNotFound(err) {
		obj, err = a.namespaces.Get(ctx, name, &metav1.GetOptions{})
	}
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.Namespace), nil
}

func (a *namespaceAdmission) markTerminating(name string, uid types.UID) {
	a.terminating.Store(name, uid)
}

func (a *namespaceAdmission) forget(name string) { a.terminating.Delete(name) }
