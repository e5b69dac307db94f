package namespace

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// Content is what a namespace holds of one kind.
type Content[T metav1.Object] struct {
	Resource schema.GroupResource
	Objects  []T
}

// Decision is the next step towards an empty namespace.
type Decision[T metav1.Object] struct {
	// Delete holds what nobody has deleted yet and may go now.
	Delete []Content[T]
	// Waiting holds what is being deleted and still there.
	Waiting []Content[T]
	// Empty: nothing is left.
	Empty bool
}

var pods = schema.GroupResource{Resource: "pods"}

// Decide tells how to go on with a namespace that holds contents.
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
		going, staying := split(c)
		if len(going.Objects) > 0 {
			d.Waiting = append(d.Waiting, going)
		}
		if len(staying.Objects) > 0 && (c.Resource == pods || !podsFirst) {
			d.Delete = append(d.Delete, staying)
		}
	}
	return d
}

// blocksDeletion tells that all else waits for a pod. One that has ended and that only its Job keeps waits for the Job to go: the
// last failed pod of an index stays until the next one is there, and in this namespace none is made any more.
func blocksDeletion[T metav1.Object](pod T) bool {
	return pod.GetDeletionTimestamp() == nil || ptr.Deref(pod.GetDeletionGracePeriodSeconds(), 1) > 0 ||
		!slices.Equal(pod.GetFinalizers(), []string{batchv1.JobTrackingFinalizer})
}

func split[T metav1.Object](c Content[T]) (going, staying Content[T]) {
	going.Resource, staying.Resource = c.Resource, c.Resource
	for _, obj := range c.Objects {
		if obj.GetDeletionTimestamp() != nil {
			going.Objects = append(going.Objects, obj)
			continue
		}
		staying.Objects = append(staying.Objects, obj)
	}
	return going, staying
}

// isTerminating tells whether the purger has to do with ns at all.
func isTerminating(ns *corev1.Namespace) bool {
	return ns.DeletionTimestamp != nil && slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes)
}

// last tells whether nothing but the purger's finalizer keeps ns.
func last(ns *corev1.Namespace) bool {
	return len(ns.Spec.Finalizers) == 1 && len(ns.Finalizers) == 0
}

// finalize takes the purger's finalizer away.
func finalize(ns *corev1.Namespace) {
	ns.Spec.Finalizers = slices.DeleteFunc(slices.Clone(ns.Spec.Finalizers),
		func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
}
