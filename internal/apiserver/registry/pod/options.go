package pod

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/persistentvolume"
)

// Options are the settings on which validation and defaults of pods and pod templates depend.
type Options struct {
	// Node returns the abilities of the node that runs the pods. Nil is for a server whose pods run elsewhere: then no pod
	// is refused for missing abilities.
	Node func() runtime.Info
	// RuntimeClass is the class of pods that name none; empty means runtime.ClassProcess.
	RuntimeClass string
	// PodMaxPIDs is how many processes a container may have; -1 is without limit. 0 is unknown.
	PodMaxPIDs int64
	// Handler returns the handler of a RuntimeClass, or false if the class does not exist. With nil only the default
	// classes exist.
	Handler             func(class string) (string, bool)
	LocalStorageClasses persistentvolume.LocalClasses
	// IsRunByNode reports whether the node runs a pod or is about to run it. The pod itself does not show that: the node
	// binds a pod only with the first status that it reports, and a pod may be bound to a node that does not exist. Nil is
	// for a server whose pods are bound before they run.
	IsRunByNode func(*corev1.Pod) bool
}

func (o Options) isRunByNode(pod *corev1.Pod) bool {
	if o.IsRunByNode == nil {
		return pod.Spec.NodeName != ""
	}
	return o.IsRunByNode(pod)
}
