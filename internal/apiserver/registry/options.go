package registry

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Options are what the rules of the kinds depend on.
type Options struct {
	// Node tells what the node that will run the pods can hold to. Nil means everything can be honoured: a server
	// whose pods run elsewhere.
	Node func() runtime.Info
	// Taken tells whether the node runs a pod, or is about to, though it has not written so yet: it writes little, and
	// binds a pod with its first report. Nil where pods are bound before they run.
	Taken func(types.UID) bool
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

func (o Options) taken(uid types.UID) bool { return o.Taken != nil && o.Taken(uid) }
