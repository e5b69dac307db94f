package job

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	core "github.com/stint-dev/stint/internal/job"
)

// leftPods has, by Job, the pods that core.IsLeft is about. The informer shows them, and the controller's own writes are
// added at once. It has sets and not numbers, as a pod may be shown more than once.
type leftPods struct {
	// limited is set if decisions need the numbers. Nothing is kept otherwise.
	limited bool

	mu    sync.Mutex
	byJob map[types.UID]sets.Set[types.UID]
}

func newLeftPods(limit int) *leftPods {
	return &leftPods{limited: limit > 0, byJob: map[types.UID]sets.Set[types.UID]{}}
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
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byJob[job] == nil {
		l.byJob[job] = sets.New[types.UID]()
	}
	l.byJob[job].Insert(pod)
}

func (l *leftPods) remove(job, pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byJob[job].Delete(pod); l.byJob[job].Len() == 0 {
		delete(l.byJob, job)
	}
}

func (l *leftPods) forget(job types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byJob, job)
}

func (l *leftPods) count(job types.UID) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byJob[job].Len()
}

// controllerOf returns the UID of the controller of a pod, empty if it has none.
func controllerOf(p *corev1.Pod) types.UID {
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		return ref.UID
	}
	return ""
}
