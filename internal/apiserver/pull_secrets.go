package apiserver

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	noderuntime "github.com/stint-dev/stint/internal/node/runtime"
)

// addPullSecrets returns prepare with an addition: new pods without imagePullSecrets get those of their ServiceAccount, as
// from the admission plugin of a cluster. Pods that run without images get none.
func (s *Server) addPullSecrets(prepare func(context.Context, runtime.Object)) func(context.Context, runtime.Object) {
	return func(ctx context.Context, obj runtime.Object) {
		prepare(ctx, obj)
		pod := obj.(*corev1.Pod)
		if noderuntime.HandlerOf(pod) != noderuntime.ClassOCI || len(pod.Spec.ImagePullSecrets) > 0 {
			return
		}
		// The account may not exist: this server runs pods without it.
		fromCache := &metav1.GetOptions{ResourceVersion: "0"}
		account, err := s.serviceAccounts.Get(genericapirequest.WithNamespace(ctx, pod.Namespace), pod.Spec.ServiceAccountName, fromCache)
		if err == nil {
			pod.Spec.ImagePullSecrets = slices.Clone(account.(*corev1.ServiceAccount).ImagePullSecrets)
		}
	}
}

// cacheServiceAccounts makes writes of ServiceAccounts wait until the cache has them, so that addPullSecrets can read from the
// cache: accounts are written seldom, and pods are created by the thousand.
func (s *Server) cacheServiceAccounts() {
	s.serviceAccounts.AfterCreate = func(obj runtime.Object, _ *metav1.CreateOptions) { s.awaitCached(obj) }
	s.serviceAccounts.AfterUpdate = func(obj runtime.Object, _ *metav1.UpdateOptions) { s.awaitCached(obj) }
	deleted := s.serviceAccounts.AfterDelete
	s.serviceAccounts.AfterDelete = func(obj runtime.Object, options *metav1.DeleteOptions) {
		s.awaitCached(obj)
		deleted(obj, options)
	}
}

// awaitCached waits until the cache has the version of an account that was written, or its deletion.
func (s *Server) awaitCached(obj runtime.Object) {
	account := obj.(*corev1.ServiceAccount)
	// An error means that there is none any more, or that the cache is late by seconds. The account was written all the same.
	_, _ = s.serviceAccounts.Get(genericapirequest.WithNamespace(s.stopping, account.Namespace), account.Name,
		&metav1.GetOptions{ResourceVersion: account.ResourceVersion})
}
