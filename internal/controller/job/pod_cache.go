package job

import (
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podstatus"
)

// podCache keeps the pods of each Job that still matter: those to count, adopt or release, and the failed ones of a Job
// that limits them. It also keeps what decisions need to know of pods that do not matter any more.
type podCache struct {
	*loop.Children[*corev1.Pod]
	// matches reports whether the selector of a Job matches a pod.
	matches func(job types.UID, p *corev1.Pod) bool

	mu sync.Mutex
	// histories has, by Job, when its pods terminated.
	histories map[types.UID]core.History
	// finalizerRemoved has the pods whose finalizer was removed, until the informer shows it.
	finalizerRemoved sets.Set[types.UID]
	// limited has the UIDs of the Jobs with a limit for failed pods. The Children read it, so mu cannot guard it.
	limited sync.Map
}

func newPodCache(matches func(types.UID, *corev1.Pod) bool, c clock.PassiveClock) *podCache {
	x := &podCache{matches: matches, histories: map[types.UID]core.History{}, finalizerRemoved: sets.New[types.UID]()}
	x.Children = loop.NewChildren(loop.Rules[*corev1.Pod]{Kind: "pod", Keep: x.isKept, Merge: withKnownEnd}, c)
	return x
}

// isRelevant reports whether a decision about job needs p: it has to be counted, adopted or released.
func (x *podCache) isRelevant(job types.UID, p *corev1.Pod) bool {
	return core.IsRelevant(p) || metav1.GetControllerOfNoCopy(p) == nil || !x.matches(job, p)
}

// isKept reports whether p is relevant or limited.
func (x *podCache) isKept(job types.UID, p *corev1.Pod) bool {
	return x.isRelevant(job, p) || x.isLimited(job, p)
}

// isLimited reports whether p is a counted failed pod of a Job with the annotation failed-pods-limit.
func (x *podCache) isLimited(job types.UID, p *corev1.Pod) bool {
	if !core.CountedAsFailed(p) {
		return false
	}
	ref := metav1.GetControllerOfNoCopy(p)
	return x.limits(job) && ref != nil && ref.UID == job
}

// limits reports whether a Job has a limit for failed pods.
func (x *podCache) limits(job types.UID) bool {
	_, limited := x.limited.Load(job)
	return limited
}

// setLimited records whether a Job has the annotation failed-pods-limit, and reports whether that changed.
func (x *podCache) setLimited(job types.UID, limited bool) (changed bool) {
	if limited {
		_, before := x.limited.Swap(job, nil)
		return !before
	}
	_, before := x.limited.LoadAndDelete(job)
	return before
}

// withKnownEnd returns newer with the status in which the pod is known to have terminated. A terminal phase never
// changes: the pod may have been counted by it already.
func withKnownEnd(known, newer *corev1.Pod) *corev1.Pod {
	if !podstatus.IsTerminated(known) || known.Status.Phase == newer.Status.Phase {
		return newer
	}
	newer = newer.DeepCopy()
	newer.Status = *known.Status.DeepCopy()
	return newer
}

// observePod records the cached version of a pod that job controls or may adopt. It returns whether the Job
// needs a sync for that.
func (x *podCache) observePod(job types.UID, p *corev1.Pod) (changed bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !core.HasFinalizer(p) {
		x.finalizerRemoved.Delete(p.UID)
	}
	before, known := x.Newest(p.UID)
	p, changed = x.ObserveCached(job, p)
	switch {
	case !endedByItself(p):
	case known && !podstatus.IsTerminated(before):
		x.changeHistory(job, func(h *core.History) { h.Observe(p) })
	default: // The pod had terminated before it was first seen, or its end is known already.
		x.changeHistory(job, func(h *core.History) { h.Add(p) })
	}
	return changed
}

// endedByItself reports whether p terminated otherwise than by its deletion by the controller, which removes the
// finalizer first.
func endedByItself(p *corev1.Pod) bool {
	return podstatus.IsTerminated(p) && (p.DeletionTimestamp == nil || core.HasFinalizer(p))
}

// drop records that a pod was deleted or does not matter any more. It returns whether the Job needs a sync for that.
func (x *podCache) drop(p *corev1.Pod) (changed bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.finalizerRemoved.Delete(p.UID)
	var job types.UID
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		job = ref.UID
	}
	return x.ObserveDeletion(job, p)
}

// observeFinalizerRemoved records that the finalizer of a pod was removed, unless the informer has shown so already.
func (x *podCache) observeFinalizerRemoved(pod types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.Has(pod) {
		x.finalizerRemoved.Insert(pod)
	}
}

// record adds counted pods to the history of their Job.
func (x *podCache) record(job types.UID, pods []*corev1.Pod) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.changeHistory(job, func(h *core.History) {
		for _, p := range pods {
			h.Add(p)
		}
	})
}

func (x *podCache) changeHistory(job types.UID, change func(*core.History)) {
	history := x.histories[job]
	change(&history)
	x.histories[job] = history
}

// forget drops all that is known of job and returns the pods that still have its finalizer.
func (x *podCache) forget(job types.UID) (held []*corev1.Pod) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, child := range x.Forget(job) {
		if core.HasFinalizer(child.Newest) && !x.finalizerRemoved.Has(child.Newest.UID) {
			held = append(held, child.Newest)
		}
		x.finalizerRemoved.Delete(child.Newest.UID)
	}
	delete(x.histories, job)
	x.limited.Delete(job)
	return held
}

// forgetFinished drops what is known of a finished Job, except for the failed pods that it limits, and returns the pods
// that still have its finalizer.
func (x *podCache) forgetFinished(job types.UID) (held []*corev1.Pod) {
	if !x.limits(job) {
		return x.forget(job)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.pods(job) {
		if core.HasFinalizer(p) && !x.finalizerRemoved.Has(p.UID) {
			held = append(held, p)
		}
		x.finalizerRemoved.Delete(p.UID)
		x.ObserveDeletion(job, p)
	}
	delete(x.histories, job)
	return held
}

// forgetEmpty drops the history of a Job that has no pods left.
func (x *podCache) forgetEmpty(job types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.Known(job) {
		delete(x.histories, job)
	}
}

// pods returns the pods of a Job that have to be counted, adopted or released.
func (x *podCache) pods(job types.UID) (pods []*corev1.Pod) {
	for _, child := range x.Of(job) {
		if x.isRelevant(job, child.Newest) {
			pods = append(pods, child.Newest)
		}
	}
	return pods
}

// failed returns the counted failed pods of a Job that limits them.
func (x *podCache) failed(job types.UID) (pods []*corev1.Pod) {
	for _, child := range x.Of(job) {
		if !child.Deleted && x.isLimited(job, child.Newest) {
			pods = append(pods, child.Newest)
		}
	}
	return pods
}

// observe fills in what is known of a Job's pods.
func (x *podCache) observe(obs *core.Observation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if history, known := x.histories[obs.Job.UID]; known {
		obs.History = history
		x.changeHistory(obs.Job.UID, (*core.History).Decided)
	}
	obs.InFlight = core.InFlight{Deleted: sets.New[types.UID](), FinalizerRemoved: sets.New[types.UID]()}
	children := x.Of(obs.Job.UID)
	obs.Pods = make([]*corev1.Pod, 0, len(children))
	for _, child := range children {
		if !child.Deleted && x.isLimited(obs.Job.UID, child.Newest) {
			obs.FailedPods = append(obs.FailedPods, child.Newest)
		}
		if !x.isRelevant(obs.Job.UID, child.Newest) {
			continue
		}
		obs.Pods = append(obs.Pods, child.Newest)
		if child.Deleted {
			obs.InFlight.Deleted.Insert(child.Newest.UID)
		}
		if x.finalizerRemoved.Has(child.Newest.UID) {
			obs.InFlight.FinalizerRemoved.Insert(child.Newest.UID)
		}
	}
}

// jobRef returns the reference of p to the Job that controls it, if one does.
func jobRef(p *corev1.Pod) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil || ref.Kind != "Job" || ref.APIVersion != batchv1.SchemeGroupVersion.String() {
		return nil
	}
	return ref
}
