package job

import (
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/job"
)

// podIndex keeps the pods of each Job that still matter. It is fed from two sides: by the informer, which is complete
// but late, and by the controller's own writes, which are early. The newer version of a pod wins.
type podIndex struct {
	mu   sync.Mutex
	jobs map[types.UID]*jobPods
	// keptBy tells under which Job a pod is kept.
	keptBy map[types.UID]types.UID
	// matches tells whether the selector of a Job matches a pod.
	matches func(job types.UID, p *corev1.Pod) bool
}

type jobPods struct {
	pods    map[types.UID]*entry
	history core.History
	// gone are pods whose end the informer has told during the current sync: a write that returns afterwards must not
	// bring them back.
	gone sets.Set[types.UID]
}

// entry is what is known of one pod.
type entry struct {
	pod *corev1.Pod
	// shown tells that the informer knows the pod, and so will tell its end.
	shown bool
	// since is when the pod was written, for pods that were not shown.
	since time.Time
	// deleted, released and missing are own findings that pod does not show yet.
	deleted, released, missing bool
}

func newPodIndex(matches func(types.UID, *corev1.Pod) bool) *podIndex {
	return &podIndex{jobs: map[types.UID]*jobPods{}, keptBy: map[types.UID]types.UID{}, matches: matches}
}

// matters tells whether a decision about job needs p: it has to be counted, adopted or let go.
func (x *podIndex) matters(job types.UID, p *corev1.Pod) bool {
	return core.Matters(p) || metav1.GetControllerOfNoCopy(p) == nil || !x.matches(job, p)
}

func (x *podIndex) of(job types.UID) *jobPods {
	j := x.jobs[job]
	if j == nil {
		j = &jobPods{pods: map[types.UID]*entry{}}
		x.jobs[job] = j
	}
	return j
}

// show takes in what the informer shows of a pod that belongs to job or might, and tells whether it is news.
func (x *podIndex) show(job types.UID, p *corev1.Pod) (news bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if before, kept := x.keptBy[p.UID]; kept && before != job {
		x.drop(p.UID)
	}
	j := x.of(job)
	e := j.pods[p.UID]
	if e != nil && !loop.Older(p, e.pod) {
		p = asItEnded(e.pod, p)
	}
	if endedOnItsOwn(p) {
		j.history.Record(p)
	}
	news = e == nil || loop.Older(e.pod, p)
	if !x.matters(job, p) {
		x.drop(p.UID)
		return news && e != nil
	}
	if e == nil {
		e = &entry{pod: p}
		j.pods[p.UID] = e
		x.keptBy[p.UID] = job
	}
	e.shown = true
	if !loop.Older(p, e.pod) {
		e.pod = p
		e.deleted = e.deleted && p.DeletionTimestamp == nil
		e.released = e.released && core.HasFinalizer(p)
	}
	return news
}

// asItEnded returns p with the end that is known. A pod ends once, and may be counted by the time that a node says
// otherwise: of an index the status does not tell which pod it was that completed it.
func asItEnded(known, p *corev1.Pod) *corev1.Pod {
	if !core.Ended(known) || known.Status.Phase == p.Status.Phase {
		return p
	}
	p = p.DeepCopy()
	p.Status = *known.Status.DeepCopy()
	return p
}

// endedOnItsOwn tells apart pods that ended from pods that the controller discarded: those lose the finalizer first.
func endedOnItsOwn(p *corev1.Pod) bool {
	return core.Ended(p) && (p.DeletionTimestamp == nil || core.HasFinalizer(p))
}

// end takes in that a pod is gone and tells whether that is news.
func (x *podIndex) end(p *corev1.Pod) (news bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, news = x.keptBy[p.UID]
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		if j := x.jobs[ref.UID]; j != nil && j.gone != nil {
			j.gone.Insert(p.UID)
			news = true
		}
	}
	x.drop(p.UID)
	return news
}

func (x *podIndex) drop(pod types.UID) {
	if j := x.jobs[x.keptBy[pod]]; j != nil {
		delete(j.pods, pod)
	}
	delete(x.keptBy, pod)
}

// wrote takes in the version of a pod that an own write returned.
func (x *podIndex) wrote(job types.UID, p *corev1.Pod, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	j := x.of(job)
	if j.gone.Has(p.UID) {
		return
	}
	e := j.pods[p.UID]
	switch {
	case e == nil:
		j.pods[p.UID] = &entry{pod: p, since: now}
		x.keptBy[p.UID] = job
	case loop.Older(e.pod, p):
		e.pod = asItEnded(e.pod, p)
	}
}

// mark changes the entry of a pod if it is still there.
func (x *podIndex) mark(pod types.UID, change func(*entry)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if j := x.jobs[x.keptBy[pod]]; j != nil && j.pods[pod] != nil {
		change(j.pods[pod])
	}
}

// record remembers pods that were counted as failed or succeeded.
func (x *podIndex) record(job types.UID, pods []*corev1.Pod) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range pods {
		x.of(job).history.Record(p)
	}
}

// open begins a sync of job and close ends it.
func (x *podIndex) open(job types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.of(job).gone = sets.New[types.UID]()
}

// isOpen tells that job was not forgotten since its sync began.
func (x *podIndex) isOpen(job types.UID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.jobs[job] != nil && x.jobs[job].gone != nil
}

func (x *podIndex) close(job types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if j := x.jobs[job]; j != nil {
		j.gone = nil
	}
}

// awaits tells that there is a pod which the informer has not shown. If it came and went while the watch was broken,
// nobody will tell of its end: somebody must ask.
func (x *podIndex) awaits(job types.UID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range x.of(job).pods {
		if !e.shown && !e.missing {
			return true
		}
	}
	return false
}

// forget drops all that is known of job and returns the pods that still have its finalizer.
func (x *podIndex) forget(job types.UID) []*corev1.Pod {
	x.mu.Lock()
	defer x.mu.Unlock()
	j := x.jobs[job]
	if j == nil {
		return nil
	}
	var held []*corev1.Pod
	for uid, e := range j.pods {
		if core.HasFinalizer(e.pod) && !e.released && !e.missing {
			held = append(held, e.pod)
		}
		delete(x.keptBy, uid)
	}
	delete(x.jobs, job)
	return held
}

// forgetEmpty drops a Job that has no pods left.
func (x *podIndex) forgetEmpty(job types.UID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if j := x.jobs[job]; j != nil && len(j.pods) == 0 {
		delete(x.jobs, job)
	}
}

// observe fills in what the index knows of a Job's pods. Unshown are pods that the informer should have shown by now.
func (x *podIndex) observe(obs *core.Observation, patience time.Duration) (unshown []*corev1.Pod) {
	x.mu.Lock()
	defer x.mu.Unlock()
	j := x.of(obs.Job.UID)
	obs.History = j.history
	obs.InFlight = core.InFlight{Deleted: sets.New[types.UID](), Released: sets.New[types.UID]()}
	obs.Pods = make([]*corev1.Pod, 0, len(j.pods))
	for uid, e := range j.pods {
		if e.missing || !x.matters(obs.Job.UID, e.pod) {
			continue
		}
		obs.Pods = append(obs.Pods, e.pod)
		if e.deleted {
			obs.InFlight.Deleted.Insert(uid)
		}
		if e.released {
			obs.InFlight.Released.Insert(uid)
		}
		if !e.shown && obs.Now.Sub(e.since) > patience {
			unshown = append(unshown, e.pod)
		}
	}
	return unshown
}

// jobRef returns the reference of p to the Job that controls it, if one does.
func jobRef(p *corev1.Pod) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil || ref.Kind != "Job" || ref.APIVersion != batchv1.SchemeGroupVersion.String() {
		return nil
	}
	return ref
}
