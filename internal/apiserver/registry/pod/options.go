package pod

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Options are what the rules of the kinds depend on.
type Options struct {
	// Node tells what the node that will run the pods can hold to. Nil means everything can be honoured: a server
	// whose pods run elsewhere.
	Node func() runtime.Info
	// RuntimeClass is that of pods which ask for none; empty is runtime.ClassProcess.
	RuntimeClass string
	// Handler returns the handler of a RuntimeClass, unless there is none of that name. Nil knows the usual ones only.
	Handler func(class string) (string, bool)
	// IsRunByNode reports whether the node runs a pod, or is about to. The node knows better than the pod says: it writes
	// little, and binds a pod with its first report; and a pod that is bound to a machine that is not there runs nowhere.
	// Nil where pods are bound before they run.
	IsRunByNode func(*corev1.Pod) bool
}

func (o Options) isRunByNode(pod *corev1.Pod) bool {
	if o.IsRunByNode == nil {
		return pod.Spec.NodeName != ""
	}
	return o.IsRunByNode(pod)
}
