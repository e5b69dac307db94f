package namespace

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// Content is the objects of one kind in a namespace.
type Content[T metav1.Object] struct {
	Resource schema.GroupResource
	Objects  []T
}

// Decision is what to do next to empty a namespace.
type Decision[T metav1.Object] struct {
	// Delete holds the objects to delete now.
	Delete []Content[T]
	// Waiting holds the objects that are being deleted already.
	Waiting []Content[T]
	// Empty: nothing is left.
	Empty bool
}

var pods = schema.GroupResource{Resource: "pods"}

// Decide returns what to do next in a namespace that holds contents.
func Decide[T metav1.Object](contents []Content[T]) Decision[T] {
	d := Decision[T]{Empty: true}
	podsFirst := slices.ContainsFunc(contents, func(c Content[T]) bool {
		return c.Resource == pods && slices.ContainsFunc(c.Objects, blocksDeletion)
	})
	for _, c := range contents {
		if len(c.Objects) == 0 {
			continue
		}
		d.Empty = false
		deleted, present := split(c)
		if len(deleted.Objects) > 0 {
			d.Waiting = append(d.Waiting, deleted)
		}
		if len(present.Objects) > 0 && (c.Resource == pods || !podsFirst) {
			d.Delete = append(d.Delete, present)
		}
	}
	return d
}

// blocksDeletion reports whether the other kinds must wait for a pod. They do not wait for a pod that has terminated and
// is held by the tracking finalizer only: the finalizer may stay until the Job is deleted, because the Job controller
// keeps the last failed pod of an index until its replacement exists, and in this namespace no pod can be created any
// more.
func blocksDeletion[T metav1.Object](pod T) bool {
	return pod.GetDeletionTimestamp() == nil || ptr.Deref(pod.GetDeletionGracePeriodSeconds(), 1) > 0 ||
		!slices.Equal(pod.GetFinalizers(), []string{batchv1.JobTrackingFinalizer})
}

func split[T metav1.Object](c Content[T]) (deleted, present Content[T]) {
	deleted.Resource, present.Resource = c.Resource, c.Resource
	for _, obj := range c.Objects {
		if obj.GetDeletionTimestamp() != nil {
			deleted.Objects = append(deleted.Objects, obj)
			continue
		}
		present.Objects = append(present.Objects, obj)
	}
	return deleted, present
}

// isTerminating reports whether the contents of ns are to be deleted.
func isTerminating(ns *corev1.Namespace) bool {
	return ns.DeletionTimestamp != nil && slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
}

// isLastFinalizer reports whether ns has no finalizer but the ContentDeleter's.
func isLastFinalizer(ns *corev1.Namespace) bool {
	return len(ns.Spec.Finalizers) == 1 && len(ns.Finalizers) == 0
}

// finalize removes the ContentDeleter's finalizer.
func finalize(ns *corev1.Namespace) {
	ns.Spec.Finalizers = slices.DeleteFunc(slices.Clone(ns.Spec.Finalizers),
		func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
}
