package job

import (
	"cmp"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/controller/loop"
)

// selectorIndex finds the Job that would adopt an orphan pod. Most Jobs select by a label with their own UID, which
// is found at once; only selectors that users wrote must be tried one by one.
type selectorIndex struct {
	mu sync.Mutex
	// byUID are the Jobs with a generated selector, bySelector those with a selector of their own.
	byUID      map[types.UID]types.NamespacedName
	bySelector map[types.UID]selectorEntry
}

type selectorEntry struct {
	job      types.UID
	key      types.NamespacedName
	selector labels.Selector
}

func newSelectorIndex() *selectorIndex {
	return &selectorIndex{byUID: map[types.UID]types.NamespacedName{}, bySelector: map[types.UID]selectorEntry{}}
}

// add adds a Job, and reports whether it may adopt pods that exist already.
func (c *selectorIndex) add(job *batchv1.Job) (mayHavePods bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !ptr.Deref(job.Spec.ManualSelector, false) {
		c.byUID[job.UID] = loop.Key(job)
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return false
	}
	c.bySelector[job.UID] = selectorEntry{job.UID, loop.Key(job), selector}
	return true
}

func (c *selectorIndex) remove(job *batchv1.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byUID, job.UID)
	delete(c.bySelector, job.UID)
}

// matches reports whether the selector of job matches pod. It does for a Job that is finished or not cached yet.
func (c *selectorIndex) matches(job types.UID, pod *corev1.Pod) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.byUID[job]; known {
		return slices.Contains(jobUIDsOf(pod), job)
	}
	m, known := c.bySelector[job]
	return !known || m.selector.Matches(labels.Set(pod.Labels))
}

// jobUIDsOf returns the UIDs of Jobs in the labels that generated selectors select by.
func jobUIDsOf(pod *corev1.Pod) []types.UID {
	return []types.UID{types.UID(pod.Labels[batchv1.ControllerUidLabel]), types.UID(pod.Labels["controller-uid"])}
}

// find returns the Job that would adopt pod; of several, always the same.
func (c *selectorIndex) find(pod *corev1.Pod) (types.UID, types.NamespacedName, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, uid := range jobUIDsOf(pod) {
		if key, found := c.byUID[uid]; found && key.Namespace == pod.Namespace {
			return uid, key, true
		}
	}
	var matching []selectorEntry
	for _, m := range c.bySelector {
		if m.key.Namespace == pod.Namespace && m.selector.Matches(labels.Set(pod.Labels)) {
			matching = append(matching, m)
		}
	}
	if len(matching) == 0 {
		return "", types.NamespacedName{}, false
	}
	first := slices.MinFunc(matching, func(a, b selectorEntry) int { return cmp.Compare(a.job, b.job) })
	return first.job, first.key, true
}
