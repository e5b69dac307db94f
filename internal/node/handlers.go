package node

import (
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
		AddFunc:    func(obj any) { n.podSeen(obj.(*corev1.Pod)) },
		UpdateFunc: func(_, obj any) { n.podSeen(obj.(*corev1.Pod)) },
		DeleteFunc: func(obj any) {
			if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = last.Obj
			}
			if api, ok := obj.(*corev1.Pod); ok {
				n.podGone(api)
			}
		},
	}
}

func (n *Node) podSeen(api *corev1.Pod) {
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
	before, news := p.observe(api)
	if ended {
		p.mu.Lock()
		p.endSeen = true
		p.mu.Unlock()
		news = true
	}
	if before != nil && news && showsItself(api) {
		p.refresh()
	}
	if news {
		n.workers.wake(api.UID)
	}
}

// lost reports whether a pod that another client has ended shows containers that run here. Unless the runtime has them, they
// went with the machine.
func (n *Node) lost(api *corev1.Pod) bool {
	return api.Spec.NodeName == n.Name() && lifecycle.LacksContainerEnds(api.Status, nil)
}

// podBoundElsewhere lets go of a pod that another client has bound to another node.
func (n *Node) podBoundElsewhere(api *corev1.Pod) {
	if p := n.pods.get(api.UID); p != nil {
		p.stopOrphansAtExit()
		n.workers.wake(api.UID)
	}
}

func (n *Node) podGone(api *corev1.Pod) {
	n.logRetention.PodDeleted(api)
	if p := n.pods.get(api.UID); p != nil {
		p.observe(api)
		p.stopOrphansAtExit()
		n.workers.wake(api.UID)
	}
}

// awaitsRemoval reports whether a deleted pod waits for the node to say that it has ended.
func awaitsRemoval(api *corev1.Pod) bool {
	return api.DeletionTimestamp != nil &&
		(api.DeletionGracePeriodSeconds == nil || *api.DeletionGracePeriodSeconds > 0)
}

// showsItself reports whether a volume of the pod shows the pod's own labels or annotations.
func showsItself(api *corev1.Pod) bool {
	for i := range api.Spec.Volumes {
		v := &api.Spec.Volumes[i]
		if v.DownwardAPI != nil || v.Projected != nil {
			return true
		}
	}
	return false
}

// nodeHandler heeds the taints of the node's object, and has it made again if it is deleted: the node still runs.
func (n *Node) nodeHandler() cache.ResourceEventHandler {
	seen := func(obj any) {
		object, ok := obj.(*corev1.Node)
		if ok && object.Name == n.Name() && n.scheduler.taint(taints.Of(object), taints.DiskPressure(object)) {
			n.workers.wake(n.pods.uids()...)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: seen, UpdateFunc: func(_, obj any) { seen(obj) }, DeleteFunc: func(any) { n.registration.deleted() }}
}

// useHandler wakes the pods that refer to a ConfigMap or Secret when it changes.
func (n *Node) useHandler(secret bool) cache.ResourceEventHandler {
	changed := func(obj any) {
		object, ok := obj.(metav1.Object)
		if !ok {
			return
		}
		for _, uid := range n.configUsers.of(config.Use{Secret: secret, Namespace: object.GetNamespace(), Name: object.GetName()}) {
			if p := n.pods.get(uid); p != nil {
				p.refresh()
				n.workers.wake(uid)
			}
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: changed, UpdateFunc: func(_, obj any) { changed(obj) }}
}
