package apiserver

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	storage "k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/internal/apiserver/registry/persistentvolume"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

var (
	storageClassesResource = storagev1.Resource("storageclasses")
	claimsResource         = corev1.Resource("persistentvolumeclaims")
)

// storageClasses keeps the StorageClass `local`, and gives new claims without a class the default one.
type storageClasses struct {
	store *genericregistry.Store
	// ctx ends with the server.
	ctx context.Context
}

// keepLocal creates the class `local`, now and when it is deleted.
func (c *storageClasses) keepLocal() error {
	c.store.AfterDelete = func(_ runtime.Object, options *metav1.DeleteOptions) {
		if len(options.DryRun) > 0 {
			return
		}
		if err := c.createLocal(); err != nil && c.ctx.Err() == nil {
			klog.ErrorS(err, "Failed to create the StorageClass local")
		}
	}
	return c.createLocal()
}

func (c *storageClasses) createLocal() error {
	_, err := c.store.Create(clusterWide(c.ctx), persistentvolume.LocalClass(), nil, &metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

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

// defaultName returns the name of the default class; empty if there is none.
func (c *storageClasses) defaultName(ctx context.Context) (string, error) {
	list, err := c.store.List(clusterWide(ctx), &metainternalversion.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return "", err
	}
	items := list.(*storagev1.StorageClassList).Items
	classes := make([]*storagev1.StorageClass, len(items))
	for i := range items {
		classes[i] = &items[i]
	}
	return core.DefaultClass(classes), nil
}
