package persistentvolume

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"
)

// Class is the storage class of a claim.
type Class struct {
	// Name is empty for a claim without a class.
	Name string
	// Object is nil if no class has this name.
	Object *storagev1.StorageClass
	// ServedAsLocal is set where users have this server provision for a class that is missing or has another provisioner.
	ServedAsLocal bool
}

// AllClasses is the name in LocalClasses that stands for every class.
const AllClasses = "*"

// LocalClasses are the names of the classes that are served as local.
type LocalClasses []string

// Has reports whether claims of this class are served as local.
func (l LocalClasses) Has(class string) bool {
	return class != "" && (slices.Contains(l, class) || slices.Contains(l, AllClasses))
}

func (c Class) isLocal() bool {
	return c.ServedAsLocal || c.Object != nil && c.Object.Provisioner == Provisioner
}

func (c Class) waitsForConsumer() bool {
	if c.Object == nil {
		return c.ServedAsLocal
	}
	return ptr.Deref(c.Object.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingWaitForFirstConsumer
}

func (c Class) reclaimPolicy() corev1.PersistentVolumeReclaimPolicy {
	if c.Object == nil {
		return corev1.PersistentVolumeReclaimDelete
	}
	return ptr.Deref(c.Object.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
}

// DefaultClassAnnotation marks the class of claims that name none.
const DefaultClassAnnotation = "storageclass.kubernetes.io/is-default-class"

// IsDefault reports whether claims that name no class get this one.
func IsDefault(c *storagev1.StorageClass) bool {
	return c.Annotations[DefaultClassAnnotation] == "true" ||
		c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}

// DefaultClass returns the name of the default class: of several, the newest. It is empty if there is none.
func DefaultClass(classes []*storagev1.StorageClass) string {
	var chosen *storagev1.StorageClass
	for _, c := range classes {
		if IsDefault(c) && (chosen == nil || newerClass(c, chosen)) {
			chosen = c
		}
	}
	if chosen == nil {
		return ""
	}
	return chosen.Name
}

func newerClass(a, b *storagev1.StorageClass) bool {
	return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}
