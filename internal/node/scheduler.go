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
func (s *scheduler) admit(pod *corev1.Pod, started bool) bool {
	switch {
	case s.hasReserved(pod.UID):
		return true
	case started:
		s.reserve(pod)
		return true
	case len(pod.Spec.SchedulingGates) > 0 || pod.DeletionTimestamp != nil:
		s.release(pod.UID)
		return false
	}
	s.wait(pod)
	return s.hasReserved(pod.UID)
}

// wait lets the pod wait for its share.
func (s *scheduler) wait(pod *corev1.Pod) {
	s.mu.Lock()
	s.enqueue(pod)
	placed := s.tryBind()
	s.mu.Unlock()
	s.wake(placed...)
}

func (s *scheduler) enqueue(pod *corev1.Pod) {
	s.waiting[pod.UID] = pod
	if _, out := taints.FindBlockingTaint(s.taints, &pod.Spec); out {
		s.queue.Release(pod.UID)
		return
	}
	s.queue.Wait(pod.UID, resources.RequestOf(pod), pod.CreationTimestamp.Time)
}

// reserve is for a pod that runs already.
func (s *scheduler) reserve(pod *corev1.Pod) {
	request := resources.RequestOf(pod)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, pod.UID)
	s.queue.Reserve(pod.UID, request)
}

// release gives the pod's share, or its place in the queue, to others.
func (s *scheduler) release(uid types.UID) {
	s.mu.Lock()
	delete(s.waiting, uid)
	s.queue.Release(uid)
	placed := s.tryBind()
	s.mu.Unlock()
	s.wake(placed...)
}

// setTaints has the node's taints be these, and reports whether they were others.
func (s *scheduler) setTaints(now []corev1.Taint, diskPressure string) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.diskPressure = diskPressure
	if equality.Semantic.DeepEqual(s.taints, now) {
		return false
	}
	s.taints = now
	for _, pod := range slices.SortedFunc(maps.Values(s.waiting), byAge) {
		s.enqueue(pod)
	}
	return true
}

// byAge has pods of the same second in the order of their names.
func byAge(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// evictingTaint is taints.SendsAway of the node's taints.
func (s *scheduler) evictingTaint(pod *corev1.PodSpec) (first corev1.Taint, after time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return taints.FindEvictingTaint(s.taints, pod)
}

// tryBind gives shares to the pods whose turn it is, and returns them.
func (s *scheduler) tryBind() []types.UID {
	if s.closed {
		return nil
	}
	placed := s.queue.Place()
	for _, uid := range placed {
		delete(s.waiting, uid)
		s.moved = now()
	}
	return placed
}

// lastMoved is when a pod last got its share.
func (s *scheduler) lastMoved() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}

func (s *scheduler) hasReserved(uid types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.HasReserved(uid)
}

// explain returns what a pod waits for, with the reason of its condition; the message is empty if it does not wait.
func (s *scheduler) explain(uid types.UID) (reason, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pod, waits := s.waiting[uid]; waits {
		if taint, out := taints.FindBlockingTaint(s.taints, &pod.Spec); out {
			return s.taintMessage(taint)
		}
	}
	message = s.queue.Explain(uid)
	if !s.queue.Fits(uid) {
		return corev1.PodReasonUnschedulable, message
	}
	return lifecycle.WaitingForTurn, message
}

// taintMessage words what a pod has to wait for. A cordon is of its nature temporary, so it counts as waiting for a turn.
func (s *scheduler) taintMessage(taint corev1.Taint) (reason, message string) {
	message = untolerated(taint)
	switch {
	case taint.Key == corev1.TaintNodeUnschedulable:
		return lifecycle.WaitingForTurn, "the node takes no pods: its spec.unschedulable is set"
	case taint.Key == corev1.TaintNodeDiskPressure && s.diskPressure != "":
		message += ": " + s.diskPressure
	}
	return corev1.PodReasonUnschedulable, message
}

// setStartTime sets the time from which the pod's deadline counts.
func (p *pod) setStartTime(now time.Time) {
	if p.startTime.IsZero() {
		p.startTime = now
	}
}
