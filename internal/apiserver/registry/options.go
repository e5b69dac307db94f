package registry

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Options are what the rules of the kinds depend on.
type Options struct {
	// Node tells what the node that will run the pods can hold to. Nil means everything can be honoured: a server
	// whose pods run elsewhere.
	Node func() runtime.Info
	// RuntimeClass is that of pods which ask for none; empty is runtime.ClassProcess.
	RuntimeClass string
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

// node returns what the node can do for a pod, and whether there is a node to ask.
func (o Options) node(s *corev1.PodSpec) (runtime.Info, bool) {
	if o.Node == nil {
		return runtime.Info{}, false
	}
	return o.Node().Of(o.classOf(s)), true
}

// classOf is the RuntimeClass that a pod gets.
func (o Options) classOf(s *corev1.PodSpec) string {
	return cmp.Or(ptr.Deref(s.RuntimeClassName, ""), o.RuntimeClass, runtime.ClassProcess)
}

// chooseRuntime settles the RuntimeClass of a new pod: a server with another one must not run it otherwise later.
func (o Options) chooseRuntime(s *corev1.PodSpec) {
	if o.Node != nil && s.RuntimeClassName == nil && o.RuntimeClass != "" && o.RuntimeClass != runtime.ClassProcess {
		s.RuntimeClassName = ptr.To(o.RuntimeClass)
	}
}

func (o Options) taken(pod *corev1.Pod) bool {
	if o.Taken == nil {
		return pod.Spec.NodeName != ""
	}
	return o.Taken(pod)
}
