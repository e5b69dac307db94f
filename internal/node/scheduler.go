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

	"github.com/stint-dev/stint/internal/node/diskpressure"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/resources"
	"github.com/stint-dev/stint/internal/node/taints"
	"github.com/stint-dev/stint/internal/persistentvolume"
)

// scheduler decides which pods may start: it owns the queue for the machine's resources, applies the node's taints, and keeps
// pods out of the queue until their claims are bound.
type scheduler struct {
	// wake requeues pods that have got their resources.
	wake func(...types.UID)
	// unmet returns what a pod's claims lack, and its ReadWriteOncePod claims; see claims.Reader.
	unmet func(*corev1.Pod) (message string, exclusive []string)

	mu    sync.Mutex
	queue *resources.Queue
	// waiting are the pods without resources, including those that a taint keeps out of the queue.
	waiting map[types.UID]*corev1.Pod
	claims  *claimQueue
	taints  []corev1.Taint
	// diskPressure is why the node has the taint of that name.
	diskPressure string
	// cordoned: no new pod may start, whatever it tolerates.
	cordoned bool
	// moved is when a pod last got its resources.
	moved time.Time
}

func newScheduler(allocatable corev1.ResourceList, cordoned bool, wake func(...types.UID), unmet func(*corev1.Pod) (string, []string)) *scheduler {
	return &scheduler{
		wake:     wake,
		unmet:    unmet,
		claims:   newClaimQueue(),
		queue:    resources.NewQueue(resources.RequestFrom(allocatable)),
		waiting:  map[types.UID]*corev1.Pod{},
		cordoned: cordoned,
	}
}

// admit reports whether the pod has its resources, or gets them now. A pod that has started gets them in any case.
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

// wait adds the pod to the queue, or takes it out of the queue if its claims are not bound.
func (s *scheduler) wait(pod *corev1.Pod) {
	var message string
	var exclusive []string
	if persistentvolume.UsesClaims(pod) {
		message, exclusive = s.unmet(pod)
	}
	s.mu.Lock()
	bound, next := s.claims.admit(pod.UID, message, exclusive)
	if bound {
		s.enqueue(pod)
	} else {
		delete(s.waiting, pod.UID)
		s.queue.Release(pod.UID)
	}
	next = append(next, s.admitWaiting()...)
	s.mu.Unlock()
	s.wake(next...)
}

func (s *scheduler) enqueue(pod *corev1.Pod) {
	s.waiting[pod.UID] = pod
	if _, blocked := taints.FindBlockingTaint(s.taints, &pod.Spec); blocked {
		s.queue.Release(pod.UID)
		return
	}
	s.queue.Wait(pod.UID, resources.RequestOf(pod), pod.CreationTimestamp.Time)
}

// reserve reserves the resources of a pod that runs already.
func (s *scheduler) reserve(pod *corev1.Pod) {
	request := resources.RequestOf(pod)
	var exclusive []string
	if persistentvolume.UsesClaims(pod) {
		_, exclusive = s.unmet(pod)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims.hold(pod.UID, exclusive)
	delete(s.waiting, pod.UID)
	s.queue.Reserve(pod.UID, request)
}

// release frees the pod's resources, or its place in the queue, for other pods.
func (s *scheduler) release(uid types.UID) {
	s.mu.Lock()
	delete(s.waiting, uid)
	s.queue.Release(uid)
	admitted := append(s.admitWaiting(), s.claims.release(uid)...)
	s.mu.Unlock()
	s.wake(admitted...)
}

// setTaints sets the node's taints, and reports whether they, or what their message says of them, have changed. Pods that wait do
// not report other names in the message: that would be two writes for each.
func (s *scheduler) setTaints(now []corev1.Taint, diskPressure string) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	same := diskpressure.SaysTheSame(s.diskPressure, diskPressure) && equality.Semantic.DeepEqual(s.taints, now)
	s.diskPressure, s.taints = diskPressure, now
	if same {
		return false
	}
	for _, pod := range slices.SortedFunc(maps.Values(s.waiting), byAge) {
		s.enqueue(pod)
	}
	return true
}

// byAge orders pods by their creation, and those of the same second by name.
func byAge(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// evictingTaint is taints.FindEvictingTaint for the node's taints.
func (s *scheduler) evictingTaint(pod *corev1.PodSpec) (first corev1.Taint, after time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return taints.FindEvictingTaint(s.taints, pod)
}

// admitWaiting reserves resources for the pods whose turn it is, and returns these pods. The caller holds s.mu.
func (s *scheduler) admitWaiting() []types.UID {
	if s.cordoned {
		return nil
	}
	admitted := s.queue.AdmitWaiting()
	for _, uid := range admitted {
		delete(s.waiting, uid)
		s.moved = now()
	}
	return admitted
}

// lastMoved returns when a pod last got its resources.
func (s *scheduler) lastMoved() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}

// withoutVolumes returns the pods that wait for their claims.
func (s *scheduler) withoutVolumes() []types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.claims.waiting))
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
	if message, waits := s.claims.message(uid); waits {
		return corev1.PodReasonUnschedulable, message
	}
	if pod, waits := s.waiting[uid]; waits {
		if taint, blocked := taints.FindBlockingTaint(s.taints, &pod.Spec); blocked {
			return s.taintMessage(taint)
		}
	}
	message = s.queue.Explain(uid)
	if !s.queue.Fits(uid) {
		return corev1.PodReasonUnschedulable, message
	}
	return lifecycle.WaitingForTurn, message
}

// taintMessage returns the reason and message of a pod that a taint blocks. A cordon is temporary, so it counts as
// waiting for a turn.
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
