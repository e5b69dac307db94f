package node

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/resources"
	"github.com/stint-dev/stint/internal/node/taints"
)

// scheduler guards the queue for the machine's resources, and keeps out of it what the node's taints keep out.
type scheduler struct {
	// wake has pods looked at that get their share.
	wake func(...types.UID)

	mu    sync.Mutex
	queue *resources.Queue
	// waiting are the pods without a share, whether they are in the queue or not.
	waiting map[types.UID]*corev1.Pod
	taints  []corev1.Taint
	// diskPressure is why there is the taint of that name.
	diskPressure string
	// closed: no pod is to be taken, whatever it tolerates.
	closed bool
	// moved is when a pod last got its share.
	moved time.Time
}

func newScheduler(allocatable corev1.ResourceList, closed bool, wake func(...types.UID)) *scheduler {
	return &scheduler{
		wake:    wake,
		queue:   resources.NewQueue(resources.RequestFrom(allocatable)),
		waiting: map[types.UID]*corev1.Pod{},
		closed:  closed,
	}
}

// admit reports whether the pod has its share, or gets it now. One that has started has it in any case.
func (p *scheduler) admit(pod *corev1.Pod, started bool) bool {
	switch {
	case p.holds(pod.UID):
		return true
	case started:
		p.hold(pod)
		return true
	case len(pod.Spec.SchedulingGates) > 0 || pod.DeletionTimestamp != nil:
		p.release(pod.UID)
		return false
	}
	p.wait(pod)
	return p.holds(pod.UID)
}

// wait lets the pod wait for its share.
func (p *scheduler) wait(pod *corev1.Pod) {
	p.mu.Lock()
	p.enqueue(pod)
	placed := p.tryBind()
	p.mu.Unlock()
	p.wake(placed...)
}

func (p *scheduler) enqueue(pod *corev1.Pod) {
	p.waiting[pod.UID] = pod
	if _, out := taints.FindBlockingTaint(p.taints, &pod.Spec); out {
		p.queue.Release(pod.UID)
		return
	}
	p.queue.Wait(pod.UID, resources.RequestOf(pod), pod.CreationTimestamp.Time)
}

// hold is for a pod that runs already.
func (p *scheduler) hold(pod *corev1.Pod) {
	request := resources.RequestOf(pod)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.waiting, pod.UID)
	p.queue.Reserve(pod.UID, request)
}

// release gives the pod's share, or its place in the queue, to others.
func (p *scheduler) release(uid types.UID) {
	p.mu.Lock()
	delete(p.waiting, uid)
	p.queue.Release(uid)
	placed := p.tryBind()
	p.mu.Unlock()
	p.wake(placed...)
}

// taint has the node's taints be these, and reports whether they were others.
func (p *scheduler) taint(now []corev1.Taint, diskPressure string) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.diskPressure = diskPressure
	if equality.Semantic.DeepEqual(p.taints, now) {
		return false
	}
	p.taints = now
	for _, pod := range slices.SortedFunc(maps.Values(p.waiting), byAge) {
		p.enqueue(pod)
	}
	return true
}

// byAge has pods of the same second in the order of their names.
func byAge(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// evictingTaint is taints.SendsAway of the node's taints.
func (p *scheduler) evictingTaint(pod *corev1.PodSpec) (first corev1.Taint, after time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return taints.FindEvictingTaint(p.taints, pod)
}

// tryBind gives shares to the pods whose turn it is, and returns them.
func (p *scheduler) tryBind() []types.UID {
	if p.closed {
		return nil
	}
	placed := p.queue.Place()
	for _, uid := range placed {
		delete(p.waiting, uid)
		p.moved = now()
	}
	return placed
}

// lastMoved is when a pod last got its share.
func (p *scheduler) lastMoved() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.moved
}

func (p *scheduler) holds(uid types.UID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.HasReserved(uid)
}

// explain returns what a pod waits for, with the reason of its condition; the message is empty if it does not wait.
func (p *scheduler) explain(uid types.UID) (reason, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pod, waits := p.waiting[uid]; waits {
		if taint, out := taints.FindBlockingTaint(p.taints, &pod.Spec); out {
			return p.taintMessage(taint)
		}
	}
	message = p.queue.Explain(uid)
	if !p.queue.Fits(uid) {
		return corev1.PodReasonUnschedulable, message
	}
	return lifecycle.WaitingForTurn, message
}

// taintMessage words what a pod has to wait for. A cordon is of its nature temporary, so it counts as waiting for a turn.
func (p *scheduler) taintMessage(taint corev1.Taint) (reason, message string) {
	message = untolerated(taint)
	switch {
	case taint.Key == corev1.TaintNodeUnschedulable:
		return lifecycle.WaitingForTurn, "the node takes no pods: its spec.unschedulable is set"
	case taint.Key == corev1.TaintNodeDiskPressure && p.diskPressure != "":
		message += ": " + p.diskPressure
	}
	return corev1.PodReasonUnschedulable, message
}

// takeStart sets the time from which the pod's deadline counts.
func (p *pod) takeStart(now time.Time) {
	if p.startTime.IsZero() {
		p.startTime = now
	}
}
