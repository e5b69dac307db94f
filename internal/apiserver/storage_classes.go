package apiserver

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	storage "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/persistentvolume"
)

var (
	storageClassesResource = storagev1.Resource("storageclasses")
	claimsResource         = corev1.Resource("persistentvolumeclaims")
)

// storageClasses applies StorageClasses to claims: those without a class get the default one, and bound ones may grow if their
// class allows it.
type storageClasses struct{ store *genericregistry.Store }

// setDefault is the BeginCreate hook of claims.
func (c *storageClasses) setDefault(ctx context.Context, obj runtime.Object, _ *metav1.CreateOptions) (genericregistry.FinishFunc, error) {
	claim := obj.(*corev1.PersistentVolumeClaim)
	if !storage.PersistentVolumeClaimHasClass(claim) {
		name, err := c.defaultName(ctx)
		if err != nil {
			return nil, err
		}
		if name != "" {
			claim.Spec.StorageClassName = &name
		}
	}
	return func(context.Context, bool) {}, nil
}

// admitGrowth is the BeginUpdate hook of claims. Validation refuses the growth of claims that are not bound.
func (c *storageClasses) admitGrowth(ctx context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (genericregistry.FinishFunc, error) {
	claim, was := obj.(*corev1.PersistentVolumeClaim), old.(*corev1.PersistentVolumeClaim)
	size, before := claim.Spec.Resources.Requests[corev1.ResourceStorage], was.Spec.Resources.Requests[corev1.ResourceStorage]
	if was.Status.Phase != corev1.ClaimBound || size.Cmp(before) <= 0 || c.allowsExpansion(ctx, storage.GetPersistentVolumeClaimClass(was)) {
		return func(context.Context, bool) {}, nil
	}
	return nil, apierrors.NewForbidden(claimsResource, claim.Name, errors.New("only dynamically provisioned pvc can be resized and the "+
		"storageclass that provisions the pvc must support resize: set allowVolumeExpansion in the class, or leave the request as it is"))
}

func (c *storageClasses) allowsExpansion(ctx context.Context, name string) bool {
	if name == "" {
		return false
	}
	class, err := c.store.Get(clusterWide(ctx), name, &metav1.GetOptions{})
	return err == nil && ptr.Deref(class.(*storagev1.StorageClass).AllowVolumeExpansion, false)
}

// defaultName returns the name of the default class; empty if there is none.
func (c *storageClasses) defaultName(ctx context.Context) (string, error) {
	list, err := listAll[*storagev1.StorageClassList](clusterWide(ctx), c.store)
	if err != nil {
		return "", err
	}
	classes := make([]*storagev1.StorageClass, len(list.Items))
	for i := range list.Items {
		classes[i] = &list.Items[i]
	}
	return core.DefaultClass(classes), nil
}
