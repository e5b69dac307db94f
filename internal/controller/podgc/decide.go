package podgc

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobcore "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
)

// Reason is why a pod is deleted, as a label of metrics. The values are Kubernetes'.
type Reason string

// The reasons; Keep is none.
const (
	Keep        Reason = ""
	Terminated  Reason = "terminated"
	Orphaned    Reason = "orphaned"
	Unscheduled Reason = "unscheduled"
)

// isBounded reports whether p is one of the terminated pods whose number is bounded. A pod with the tracking finalizer is
// not yet: its Job still has to count it.
func isBounded(p *corev1.Pod) bool {
	return podstatus.IsTerminated(p) && !jobcore.HasFinalizer(p) && p.DeletionTimestamp == nil
}

// older compares two terminated pods: the one that is deleted first is less. Evicted pods go before all others, as in
// Kubernetes: what they have printed breaks off in the middle.
func older(a, b *corev1.Pod) int {
	return cmp.Or(
		-cmp.Compare(rank(a), rank(b)),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name))
}

func rank(p *corev1.Pod) int {
	if p.Status.Phase == corev1.PodFailed && p.Status.Reason == "Evicted" {
		return 1
	}
	return 0
}

// Nodes are the nodes that exist.
type Nodes interface {
	// Any reports whether there is a node at all.
	Any() bool
	Has(name string) bool
}

// Lost returns Orphaned or Unscheduled if no node will ever end p, else Keep. A server without any node cannot tell: its
// node may not be registered yet.
func Lost(p *corev1.Pod, nodes Nodes) Reason {
	endsAtOnce := p.DeletionTimestamp != nil && ptr.Deref(p.DeletionGracePeriodSeconds, 0) == 0
	switch {
	case endsAtOnce && podstatus.IsTerminated(p):
		return Keep // It waits only for its finalizers.
	case p.Spec.NodeName != "" && !nodes.Has(p.Spec.NodeName) && nodes.Any():
		return Orphaned
	case p.Spec.NodeName == "" && endsAtOnce:
		// With a grace period, a node runs it and has not reported so yet.
		return Unscheduled
	}
	return Keep
}
