package persistentvolume

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

// DefaultClasses returns the StorageClasses that always exist on a server with a node.
func DefaultClasses() []*storagev1.StorageClass { return []*storagev1.StorageClass{LocalClass()} }

// LocalClass returns a new object for the StorageClass whose claims are provisioned with directories of this machine.
func LocalClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta:        metav1.ObjectMeta{Name: core.LocalClass, Annotations: map[string]string{core.DefaultClassAnnotation: "true"}},
		Provisioner:       core.Provisioner,
		ReclaimPolicy:     ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}
}

// Class describes StorageClasses.
func Class(o pod.Options) kinds.Resource {
	return kinds.Resource{
		Version:       storagev1.SchemeGroupVersion,
		Kind:          "StorageClass",
		Plural:        "storageclasses",
		Singular:      "storageclass",
		ShortNames:    []string{"sc"},
		ClusterScoped: true,
		New:           func() runtime.Object { return &storagev1.StorageClass{} },
		NewList:       func() runtime.Object { return &storagev1.StorageClassList{} },

		Default: func(obj runtime.Object) {
			c := obj.(*storagev1.StorageClass)
			c.ReclaimPolicy = cmpOr(c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
			c.VolumeBindingMode = cmpOr(c.VolumeBindingMode, storagev1.VolumeBindingImmediate)
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validateClass(obj.(*storagev1.StorageClass))
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string {
			return warnClass(obj.(*storagev1.StorageClass), o)
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			return validateClassUpdate(obj.(*storagev1.StorageClass), old.(*storagev1.StorageClass))
		},
		Columns: classColumns,
		Row:     classRow,
	}
}

var (
	classDoc     = storagev1.StorageClass{}.SwaggerDoc()
	classColumns = []metav1.TableColumnDefinition{
		kinds.NameColumn,
		column("Provisioner", classDoc["provisioner"]),
		column("ReclaimPolicy", classDoc["reclaimPolicy"]),
		column("VolumeBindingMode", classDoc["volumeBindingMode"]),
		column("AllowVolumeExpansion", classDoc["allowVolumeExpansion"]),
		kinds.AgeColumn,
	}
)

func classRow(obj runtime.Object, now time.Time) []any {
	c := obj.(*storagev1.StorageClass)
	name := c.Name
	if core.IsDefault(c) {
		name += " (default)"
	}
	return []any{
		name, c.Provisioner, string(ptr.Deref(c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)), orUnset(c.VolumeBindingMode),
		ptr.Deref(c.AllowVolumeExpansion, false), kinds.Age(c.CreationTimestamp, now),
	}
}
