package runtime

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// The handlers of this machine, each with a RuntimeClass of the same name.
const (
	// ClassProcess runs a container as a process of the machine, with the machine's programs.
	ClassProcess = "process"
	// ClassOCI runs a container from its image.
	ClassOCI = "oci"
)

// HandlerAnnotation names the handler of a pod whose RuntimeClass is called otherwise. It is settled when the pod is
// made, so that no change of the class has a pod run otherwise than it began.
const HandlerAnnotation = "stint.dev/runtime-handler"

// HandlerOf is what runs the pod.
func HandlerOf(pod *corev1.Pod) string {
	if handler, ok := pod.Annotations[HandlerAnnotation]; ok {
		return handler
	}
	return ptr.Deref(pod.Spec.RuntimeClassName, ClassProcess)
}
