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

// HandlerAnnotation names the handler of a pod whose RuntimeClass has another name. It is set when the pod is created,
// so that a later change of the class does not change how the pod runs.
const HandlerAnnotation = "stint.dev/runtime-handler"

// HandlerOf returns the handler that runs the pod.
func HandlerOf(pod *corev1.Pod) string {
	if handler, ok := pod.Annotations[HandlerAnnotation]; ok {
		return handler
	}
	return ptr.Deref(pod.Spec.RuntimeClassName, ClassProcess)
}
