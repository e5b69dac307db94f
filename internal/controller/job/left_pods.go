package job

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	core "github.com/stint-dev/stint/internal/job"
)

// leftPods counts the pods for which core.IsLeft is true, in constant time. The informer shows them; the controller's own
// writes are added at once.
type leftPods struct {
	// limited is set if decisions need the numbers. Nothing is kept otherwise.
	limited bool

	mu sync.Mutex
	// byJob has the pods by the UID of their controller, empty if they have none. A pod may be shown more than once.
	byJob map[types.UID]sets.Set[types.UID]
	// jobsWith is how many Jobs have so many pods, most the largest of these numbers.
	jobsWith    map[int]int
	total, most int
}

func newLeftPods(limit int) *leftPods {
	return &leftPods{limited: limit > 0, byJob: map[types.UID]sets.Set[types.UID]{}, jobsWith: map[int]int{}}
}

// observe records a change of a pod; was is nil for a new pod, is for one that was removed.
func (l *leftPods) observe(was, is *corev1.Pod) {
	if was != nil && (is == nil || core.IsLeft(was)) {
		l.remove(controllerOf(was), was.UID)
	}
	if is != nil && core.IsLeft(is) {
		l.add(controllerOf(is), is.UID)
	}
}

func (l *leftPods) add(job, pod types.UID) {
	if !l.limited {
		return
	}
	l.change(job, func(pods sets.Set[types.UID]) { pods.Insert(pod) })
}

func (l *leftPods) remove(job, pod types.UID) {
	l.change(job, func(pods sets.Set[types.UID]) { pods.Delete(pod) })
}

// forget drops what is known of a Job that is gone.
func (l *leftPods) forget(job types.UID) {
	l.change(job, func(pods sets.Set[types.UID]) { clear(pods) })
}

func (l *leftPods) change(job types.UID, do func(sets.Set[types.UID])) {
	l.mu.Lock()
	defer l.mu.Unlock()
	pods := l.byJob[job]
	if pods == nil {
		pods = sets.New[types.UID]()
	}
	before := pods.Len()
	do(pods)
	if l.byJob[job] = pods; pods.Len() == 0 {
		delete(l.byJob, job)
	}
	l.recount(before, pods.Len())
}

// recount records that a Job has another number of pods than before.
func (l *leftPods) recount(before, now int) {
	l.total += now - before
	l.jobsWith[now]++
	if l.jobsWith[before]--; l.jobsWith[before] <= 0 {
		delete(l.jobsWith, before)
	}
	l.most = max(l.most, now)
	for l.most > 0 && l.jobsWith[l.most] == 0 {
		l.most--
	}
}

func (l *leftPods) count(job types.UID) core.TerminatedPods {
	l.mu.Lock()
	defer l.mu.Unlock()
	return core.TerminatedPods{Total: l.total, OfJob: l.byJob[job].Len(), Most: l.most}
}

// controllerOf returns the UID of the controller of a pod, empty if it has none.
func controllerOf(p *corev1.Pod) types.UID {
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		return ref.UID
	}
	return ""
}
