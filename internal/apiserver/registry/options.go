package registry

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Options are what the rules of the kinds depend on.
type Options struct {
	// Node tells what the node that will run the pods can hold to. Nil means everything can be honoured: a server
	// whose pods run elsewhere.
	Node func() runtime.Info
	// Taken tells whether the node runs a pod, or is about to. The node knows better than the pod says: it writes
	// little, and binds a pod with its first report; and a pod that is bound to a machine that is not there runs nowhere.
	// Nil where pods are bound before they run.
	Taken func(*corev1.Pod) bool
}

// All lists every kind that is served.
func All(o Options) []Resource {
	return []Resource{
		Namespace(),
		Node(),
		Pod(o),
		PodTemplate(o),
		Job(o),
		CronJob(o),
		ScheduledJob(o),
		ResultSlice(),
		ConfigMap(),
		Secret(),
		ServiceAccount(),
		Event(),
		Lease(),
	}
}

// node returns what the node can do, and whether there is a node to ask.
func (o Options) node() (runtime.Info, bool) {
	if o.Node == nil {
		return runtime.Info{}, false
	}
	return o.Node(), true
}

func (o Options) taken(pod *corev1.Pod) bool {
	if o.Taken == nil {
		return pod.Spec.NodeName != ""
	}
	return o.Taken(pod)
}
