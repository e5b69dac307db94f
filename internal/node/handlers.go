package node

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/node/config"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/taints"
	"github.com/stint-dev/stint/internal/podstatus"
)

func (n *Node) podHandler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { n.observePod(obj.(*corev1.Pod)) },
		UpdateFunc: func(_, obj any) { n.observePod(obj.(*corev1.Pod)) },
		DeleteFunc: func(obj any) {
			if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = last.Obj
			}
			if api, ok := obj.(*corev1.Pod); ok {
				n.podDeleted(api)
			}
		},
	}
}

func (n *Node) observePod(api *corev1.Pod) {
	if api.Spec.NodeName != "" && api.Spec.NodeName != n.Name() {
		n.podBoundElsewhere(api)
		return
	}
	ended := podstatus.IsTerminal(api.Status.Phase)
	p := n.pods.get(api.UID)
	if p == nil {
		if ended && !awaitsRemoval(api) && !n.lost(api) {
			return
		}
		p = n.pods.getOrAdd(api.UID)
	}
	before, changed := p.observe(api)
	if ended {
		p.mu.Lock()
		p.finalObserved = true
		p.mu.Unlock()
		changed = true
	}
	if before != nil && changed && showsOwnMetadata(api) {
		p.markStale()
	}
	if changed {
		n.workers.wake(api.UID)
	}
}

// lost reports whether a pod with a final status, which another client has written, shows containers that run on this
// node. If the runtime does not have them, they were lost with the machine's processes.
func (n *Node) lost(api *corev1.Pod) bool {
	return api.Spec.NodeName == n.Name() && lifecycle.LacksContainerEnds(api.Status, nil)
}

// podBoundElsewhere handles a pod that another client has bound to another node: this node stops managing it.
func (n *Node) podBoundElsewhere(api *corev1.Pod) {
	if p := n.pods.get(api.UID); p != nil {
		p.markAbsent()
		n.workers.wake(api.UID)
	}
}

func (n *Node) podDeleted(api *corev1.Pod) {
	n.logRetention.PodDeleted(api)
	if p := n.pods.get(api.UID); p != nil {
		p.observe(api)
		p.markAbsent()
		n.workers.wake(api.UID)
	}
}

// awaitsRemoval reports whether a deleted pod stays until its node deletes it with a grace period of 0.
func awaitsRemoval(api *corev1.Pod) bool {
	return api.DeletionTimestamp != nil &&
		(api.DeletionGracePeriodSeconds == nil || *api.DeletionGracePeriodSeconds > 0)
}

// showsOwnMetadata reports whether a volume of the pod may show the pod's own labels or annotations.
func showsOwnMetadata(api *corev1.Pod) bool {
	for i := range api.Spec.Volumes {
		v := &api.Spec.Volumes[i]
		if v.DownwardAPI != nil || v.Projected != nil {
			return true
		}
	}
	return false
}

// nodeHandler observes the Node's taints and labels, and recreates the Node if it is deleted, as this node still runs.
func (n *Node) nodeHandler() cache.ResourceEventHandler {
	seen := func(obj any) {
		object, ok := obj.(*corev1.Node)
		if ok && object.Name == n.Name() && n.scheduler.setTaints(taints.Of(object), taints.DiskPressure(object)) {
			n.workers.wake(n.pods.uids()...)
		}
	}
	changed := func(before, after any) {
		seen(after)
		if old, ok := before.(*corev1.Node); ok && !maps.Equal(old.Labels, after.(*corev1.Node).Labels) {
			n.workers.wake(n.scheduler.withoutVolumes()...)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: seen, UpdateFunc: changed, DeleteFunc: func(any) { n.registration.deleted() }}
}

// configHandler requeues the pods that refer to an object of this kind when it changes.
func (n *Node) configHandler(kind config.Kind) cache.ResourceEventHandler {
	changed := func(obj any) {
		if object, ok := obj.(metav1.Object); ok {
			n.configChanged(config.Use{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()})
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: changed, UpdateFunc: func(_, obj any) { changed(obj) }}
}

// claimHandler is configHandler for claims, which pods wait for: that one is gone is new to them as well.
func (n *Node) claimHandler() cache.ResourceEventHandler {
	changed := n.configHandler(config.Claim)
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { changed.OnAdd(obj, false) },
		UpdateFunc: changed.OnUpdate,
		DeleteFunc: func(obj any) { changed.OnAdd(obj, false) },
	}
}

// volumeHandler requeues the pods that refer to the claim of a PersistentVolume when the volume changes.
func (n *Node) volumeHandler() cache.ResourceEventHandler {
	changed := func(obj any) {
		if pv, ok := obj.(*corev1.PersistentVolume); ok && pv.Spec.ClaimRef != nil {
			n.configChanged(config.Use{Kind: config.Claim, Namespace: pv.Spec.ClaimRef.Namespace, Name: pv.Spec.ClaimRef.Name})
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: changed, UpdateFunc: func(_, obj any) { changed(obj) }, DeleteFunc: changed}
}

func (n *Node) configChanged(use config.Use) {
	for _, uid := range n.configUsers.of(use) {
		if p := n.pods.get(uid); p != nil {
			p.markStale()
			n.workers.wake(uid)
		}
	}
}
