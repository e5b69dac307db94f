package node

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/node/lifecycle"
)

// pods are the pods that the node has to do with.
type pods struct {
	mu    sync.Mutex
	byUID map[types.UID]*pod
}

func (ps *pods) get(uid types.UID) *pod {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.byUID[uid]
}

// getOrAdd returns the pod's entry, made if there was none.
func (ps *pods) getOrAdd(uid types.UID) *pod {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p, ok := ps.byUID[uid]
	if !ok {
		p = newPod(uid)
		ps.byUID[uid] = p
	}
	return p
}

func (ps *pods) uids() []types.UID {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return slices.Collect(maps.Keys(ps.byUID))
}

func (ps *pods) drop(uid types.UID) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	delete(ps.byUID, uid)
}

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
	if api.Spec.NodeName != "" && api.Spec.NodeName != n.name {
		n.podElsewhere(api)
		return
	}
	ended := lifecycle.Final(api.Status.Phase)
	p := n.pods.get(api.UID)
	if p == nil {
		if ended && !awaitsRemoval(api) && !n.lost(api) {
			return
		}
		p = n.pods.getOrAdd(api.UID)
	}
	before, news := p.see(api)
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
		n.queue.Add(api.UID)
	}
}

// lost tells whether a pod that somebody else has ended shows containers that run here. Unless the runtime has them, they
// went with the machine.
func (n *Node) lost(api *corev1.Pod) bool {
	return api.Spec.NodeName == n.name && lifecycle.Untold(api.Status, nil)
}

// podElsewhere lets go of a pod that someone has bound to another node.
func (n *Node) podElsewhere(api *corev1.Pod) {
	if p := n.pods.get(api.UID); p != nil {
		p.leave()
		n.queue.Add(api.UID)
	}
}

func (n *Node) podGone(api *corev1.Pod) {
	n.leaveLogs(api)
	if p := n.pods.get(api.UID); p != nil {
		p.see(api)
		p.leave()
		n.queue.Add(api.UID)
	}
}

func (p *pod) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.absent = true
}

func (p *pod) refresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stale = true
}

// awaitsRemoval tells whether a deleted pod waits for the node to say that it has ended.
func awaitsRemoval(api *corev1.Pod) bool {
	return api.DeletionTimestamp != nil &&
		(api.DeletionGracePeriodSeconds == nil || *api.DeletionGracePeriodSeconds > 0)
}

// showsItself tells whether a volume of the pod shows the pod's own labels or annotations.
func showsItself(api *corev1.Pod) bool {
	for i := range api.Spec.Volumes {
		v := &api.Spec.Volumes[i]
		if v.DownwardAPI != nil || v.Projected != nil {
			return true
		}
	}
	return false
}
