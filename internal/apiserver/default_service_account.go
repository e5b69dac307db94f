package apiserver

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/klog/v2"
)

var serviceAccountsResource = schema.GroupResource{Resource: "serviceaccounts"}

// defaultServiceAccount is the ServiceAccount that every namespace has.
const defaultServiceAccount = "default"

// keepDefaultServiceAccounts creates the account when a namespace is created and when the account is deleted, as
// kube-controller-manager does.
func (s *Server) keepDefaultServiceAccounts() {
	s.admission.namespaces.AfterCreate = func(obj runtime.Object, options *metav1.CreateOptions) {
		if len(options.DryRun) == 0 {
			s.makeDefaultServiceAccount(obj.(*corev1.Namespace).Name)
		}
	}
	s.serviceAccounts.AfterDelete = func(obj runtime.Object, options *metav1.DeleteOptions) {
		account := obj.(*corev1.ServiceAccount)
		if len(options.DryRun) == 0 && account.Name == defaultServiceAccount {
			s.makeDefaultServiceAccount(account.Namespace)
		}
	}
}

func (s *Server) makeDefaultServiceAccount(namespace string) {
	if err := s.createDefaultServiceAccount(s.stopping, namespace); err != nil && s.stopping.Err() == nil {
		klog.ErrorS(err, "Failed to create the default ServiceAccount of a namespace", "namespace", namespace)
	}
}

// createDefaultServiceAccount creates the account, except in a namespace that is being deleted.
func (s *Server) createDefaultServiceAccount(ctx context.Context, namespace string) error {
	if s.admission.AdmitCreation(ctx, serviceAccountsResource, namespace, defaultServiceAccount) != nil {
		return nil
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: defaultServiceAccount, Namespace: namespace}}
	_, err := s.serviceAccounts.Create(genericapirequest.WithNamespace(ctx, namespace), account, nil, &metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// ensureDefaultServiceAccounts creates missing accounts. An older version created none, and a server may be killed after it
// has stored a namespace and before it creates the account.
func (s *Server) ensureDefaultServiceAccounts(ctx context.Context) error {
	list, err := listAll[*corev1.NamespaceList](genericapirequest.WithNamespace(ctx, metav1.NamespaceNone), s.admission.namespaces)
	if err != nil {
		return err
	}
	for _, ns := range list.Items {
		fromCache := &metav1.GetOptions{ResourceVersion: "0"}
		if _, err := s.serviceAccounts.Get(genericapirequest.WithNamespace(ctx, ns.Name), defaultServiceAccount, fromCache); err == nil {
			continue
		}
		if err := s.createDefaultServiceAccount(ctx, ns.Name); err != nil {
			return err
		}
	}
	return nil
}
