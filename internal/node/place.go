package node

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/resources"
)

// placer guards the queue for the machine's resources.
type placer struct {
	mu    sync.Mutex
	queue *resources.Queue
	// cordoned: no pod is to be taken.
	cordoned bool
	// moved is when a pod last got its share.
	moved time.Time
}

func newPlacer(allocatable corev1.ResourceList) *placer {
	return &placer{queue: resources.NewQueue(resources.RequestFrom(allocatable))}
}

// wait lets the pod wait for its share and returns the pods that get theirs now.
func (p *placer) wait(pod *corev1.Pod) []types.UID {
	request := resources.RequestOf(pod)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.Wait(pod.UID, request, pod.CreationTimestamp.Time)
	return p.place()
}

// hold is for a pod that runs already.
func (p *placer) hold(pod *corev1.Pod) {
	request := resources.RequestOf(pod)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.Hold(pod.UID, request)
}

// release gives the pod's share back and returns the pods that get theirs now.
func (p *placer) release(uid types.UID) []types.UID {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.Release(uid)
	return p.place()
}

// cordon has pods wait whatever is free, or no more. It returns the pods that get their share now.
func (p *placer) cordon(on bool) []types.UID {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cordoned = on
	return p.place()
}

func (p *placer) place() []types.UID {
	if p.cordoned {
		return nil
	}
	placed := p.queue.Place()
	if len(placed) > 0 {
		p.moved = now()
	}
	return placed
}

// lastMoved is when a pod last got its share.
func (p *placer) lastMoved() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.moved
}

func (p *placer) holds(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.Holds(uid)
}

// explain tells what a pod waits for, with the reason of its condition; the message is empty if it does not wait.
func (p *placer) explain(uid types.UID) (reason, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	message = p.queue.Explain(uid)
	switch {
	case !p.queue.Fits(uid):
		return corev1.PodReasonUnschedulable, message
	case message != "" && p.cordoned:
		message = "the node takes no pods: its spec.unschedulable is set"
	}
	return lifecycle.WaitingForTurn, message
}

// place tries to give the pod its share and tells whether it has it.
func (n *Node) place(p *pod, api *corev1.Pod) bool {
	if n.placer.holds(p.uid) {
		return true
	}
	if p.startTime.IsZero() && (len(api.Spec.SchedulingGates) > 0 || api.DeletionTimestamp != nil) {
		n.free(p)
		return false
	}
	if !p.startTime.IsZero() {
		n.placer.hold(api)
		return true
	}
	n.wakeAll(n.placer.wait(api))
	return n.placer.holds(p.uid)
}

// Taken tells whether the pod is this node's: it is bound to it, or has its share of the machine and will be.
func (n *Node) Taken(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == n.name || n.placer.holds(pod.UID)
}

// free gives the pod's share, or its place in the queue, to others.
func (n *Node) free(p *pod) { n.wakeAll(n.placer.release(p.uid)) }

func (n *Node) wakeAll(uids []types.UID) {
	for _, uid := range uids {
		n.queue.Add(uid)
	}
}

// takeStart sets the time from which the pod's deadline counts.
func (p *pod) takeStart(now time.Time) {
	if p.startTime.IsZero() {
		p.startTime = now
	}
}
