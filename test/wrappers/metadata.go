package wrappers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// metadata is the part of a wrapper W that all kinds share.
type metadata[W any] struct {
	wrapper W
	meta    *metav1.ObjectMeta
}

func (m metadata[W]) GenerateName(prefix string) W {
	m.meta.GenerateName = prefix
	return m.wrapper
}

func (m metadata[W]) Namespace(namespace string) W {
	m.meta.Namespace = namespace
	return m.wrapper
}

func (m metadata[W]) UID(uid types.UID) W {
	m.meta.UID = uid
	return m.wrapper
}

func (m metadata[W]) ResourceVersion(version string) W {
	m.meta.ResourceVersion = version
	return m.wrapper
}

func (m metadata[W]) Generation(n int64) W {
	m.meta.Generation = n
	return m.wrapper
}

func (m metadata[W]) Label(key, value string) W {
	metav1.SetMetaDataLabel(m.meta, key, value)
	return m.wrapper
}

func (m metadata[W]) Annotation(key, value string) W {
	metav1.SetMetaDataAnnotation(m.meta, key, value)
	return m.wrapper
}

func (m metadata[W]) CreationTimestamp(t metav1.Time) W {
	m.meta.CreationTimestamp = t
	return m.wrapper
}

func (m metadata[W]) DeletionTimestamp(t metav1.Time) W {
	m.meta.DeletionTimestamp = &t
	return m.wrapper
}

// Finalizers are these and no others.
func (m metadata[W]) Finalizers(names ...string) W {
	m.meta.Finalizers = names
	return m.wrapper
}

// OwnerReferences are these and no others.
func (m metadata[W]) OwnerReferences(refs ...metav1.OwnerReference) W {
	m.meta.OwnerReferences = refs
	return m.wrapper
}
