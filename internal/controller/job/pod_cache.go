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

// podCache keeps the pods of each Job that still matter, and what must be remembered of those that do not any more.
type podCache struct {
	*loop.Children[*corev1.Pod]
	// matches reports whether the selector of a Job matches a pod.
	matches func(job types.UID, p *corev1.Pod) bool

	mu sync.Mutex
	// histories have the ends of pods, by Job.
	histories map[types.UID]core.History
	// released are the pods whose finalizer was removed, until the informer shows it.
	released sets.Set[types.UID]
}

func newPodCache(matches func(types.UID, *corev1.Pod) bool, c clock.PassiveClock) *podCache {
	x := &podCache{matches: matches, histories: map[types.UID]core.History{}, released: sets.New[types.UID]()}
	x.Children = loop.NewChildren(loop.Rules[*corev1.Pod]{Kind: "pod", Keep: x.isRelevant, Merge: withKnownEnd}, c)
	return x
}

// isRelevant reports whether a decision about job needs p: it has to be counted, adopted or released.
func (x *podCache) isRelevant(job types.UID, p *corev1.Pod) bool {
	return core.IsRelevant(p) || metav1.GetControllerOfNoCopy(p) == nil || !x.matches(job, p)
}

// withKnownEnd returns newer with the end that is known. A pod ends once, and may be counted by the time that a node says
// otherwise: of an index the status does not tell which pod it was that completed it.
func withKnownEnd(known, newer *corev1.Pod) *corev1.Pod {
	if !podstatus.IsTerminated(known) || known.Status.Phase == newer.Status.Phase {
		return newer
	}
	newer = newer.DeepCopy()
	newer.Status = *known.Status.DeepCopy()
	return newer
}

// observePod takes in what the informer shows of a pod that belongs to job or might, and returns whether it is news.
func (x *podCache) observePod(job types.UID, p *corev1.Pod) (news bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !core.HasFinalizer(p) {
		x.released.Delete(p.UID)
	}
	p, news = x.ObserveCached(job, p)
	if endedByItself(p) {
		x.recordLocked(job, p)
	}
	return news
}

// endedByItself tells apart pods that ended from pods that the controller discarded: those lose the finalizer first.
func endedByItself(p *corev1.Pod) bool {
	return podstatus.IsTerminated(p) && (p.DeletionTimestamp == nil || core.HasFinalizer(p))
}

// end takes in that the informer shows the end of a pod, and returns whether that is news.
func (x *podCache) end(p *corev1.Pod) (news bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.released.Delete(p.UID)
	var job types.UID
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		job = ref.UID
	}
	return x.ObserveDeletion(job, p)
}

// release takes in that the finalizer of a pod was removed.
func (x *podCache) release(pod types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.released.Insert(pod)
}

// record remembers pods that were counted as failed or succeeded.
func (x *podCache) record(job types.UID, pods []*corev1.Pod) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range pods {
		x.recordLocked(job, p)
	}
}

func (x *podCache) recordLocked(job types.UID, p *corev1.Pod) {
	history := x.histories[job]
	history.Add(p)
	x.histories[job] = history
}

// forget drops all that is known of job and returns the pods that still have its finalizer.
func (x *podCache) forget(job types.UID) (held []*corev1.Pod) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, child := range x.Forget(job) {
		if core.HasFinalizer(child.Newest) && !x.released.Has(child.Newest.UID) {
			held = append(held, child.Newest)
		}
		x.released.Delete(child.Newest.UID)
	}
	delete(x.histories, job)
	return held
}

// forgetEmpty drops a Job that has no pods left.
func (x *podCache) forgetEmpty(job types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.Known(job) {
		delete(x.histories, job)
	}
}

// pods returns the pods of a Job that matter.
func (x *podCache) pods(job types.UID) (pods []*corev1.Pod) {
	for _, child := range x.Of(job) {
		pods = append(pods, child.Newest)
	}
	return pods
}

// observe fills in what is known of a Job's pods.
func (x *podCache) observe(obs *core.Observation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	obs.History = x.histories[obs.Job.UID]
	obs.InFlight = core.InFlight{Deleted: sets.New[types.UID](), FinalizerRemoved: sets.New[types.UID]()}
	children := x.Of(obs.Job.UID)
	obs.Pods = make([]*corev1.Pod, 0, len(children))
	for _, child := range children {
		obs.Pods = append(obs.Pods, child.Newest)
		if child.Deleted {
			obs.InFlight.Deleted.Insert(child.Newest.UID)
		}
		if x.released.Has(child.Newest.UID) {
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
