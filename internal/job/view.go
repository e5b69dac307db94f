package job

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/podstatus"
)

// view is an observation with its pods sorted. It is made once per decision and never changed.
type view struct {
	Observation
	job *batchv1.Job
	// annotations are the settings of the Job's annotations. Those that override Settings are in Settings already.
	annotations AnnotationSettings
	// start is what status.startTime should be, from which the deadline counts. It is nil while the Job waits for other
	// Jobs. While the Job is suspended it is the stored one.
	start *metav1.Time

	// unmetDependencies are the dependencies that must be met before the Job starts.
	unmetDependencies []DependencyRule

	adopt, release []*corev1.Pod
	// owned are the Job's pods, lowest index first.
	owned []*corev1.Pod
	// active pods have neither terminated nor been deleted.
	active []*corev1.Pod
	// terminating pods have been deleted and still run.
	terminating []*corev1.Pod

	// uncounted is what the persisted status lists as terminated but not counted.
	uncounted uncounted
	// newFailed pods have failed since: they are in no list and no counter.
	newFailed []*corev1.Pod

	// succeeded and failed are the totals, counted or not.
	succeeded, failed int32
	// completed is persisted; done includes the indexes that succeeded since. An index ends once: none is both in
	// done and in failedIndexes, and none leaves the one it is in.
	completed, done, failedIndexes Indexes
	// lastFailedByIndex is the last failed pod of each index that waits for a new pod: it holds the count of failures.
	lastFailedByIndex map[int]*corev1.Pod
}

type uncounted struct{ succeeded, failed sets.Set[types.UID] }

func (u uncounted) has(p *corev1.Pod) bool { return u.succeeded.Has(p.UID) || u.failed.Has(p.UID) }

func newView(obs Observation) view {
	v := view{Observation: obs, job: obs.Job}
	v.annotations, _ = ReadAnnotations(v.job.Annotations, AnnotationsPath)
	v.Settings = v.Settings.overriddenBy(v.annotations)
	v.NextCreateAt = v.nextCreateAt()
	u := orEmpty(v.job.Status.UncountedTerminatedPods)
	v.uncounted = uncounted{sets.New(u.Succeeded...), sets.New(u.Failed...)}
	v.claim()
	v.observeDependencies()
	slices.SortFunc(v.owned, byIndexThenUID)
	for _, p := range v.owned {
		switch {
		case podstatus.IsTerminated(p):
		case v.isTerminating(p):
			v.terminating = append(v.terminating, p)
		default:
			v.active = append(v.active, p)
		}
	}
	newSucceeded := v.newlyEnded(func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	v.newFailed = v.newlyEnded(func(p *corev1.Pod) bool { return failed(v.job, p) })
	v.succeeded = v.job.Status.Succeeded + int32(len(newSucceeded)+len(v.uncounted.succeeded))
	v.failed = v.job.Status.Failed + int32(countedFailures(v.job, v.newFailed)+len(v.uncounted.failed))
	if v.indexed() {
		v.classifyIndexes(newSucceeded)
	}
	v.start = v.startTime()
	return v
}

// isTerminating reports whether p, which has not terminated as far as obs shows, is about to. A pod that the status lists
// has terminated or been deleted; obs has an older version of it. The exception is a Job that fails: there another
// controller may have listed the pod before deleting it.
func (v *view) isTerminating(p *corev1.Pod) bool {
	return p.DeletionTimestamp != nil || v.InFlight.Deleted.Has(p.UID) || v.uncounted.has(p) && !storedVerdict(*v).Failure()
}

func (v *view) classifyIndexes(newSucceeded []*corev1.Pod) {
	v.completed = ParseIndexes(v.job.Status.CompletedIndexes, v.completions())
	stored := storedFailedIndexes(*v)
	v.done = v.completed.Union(Indexes(nil).With(indexesOf(newSucceeded)...).Without(stored))
	v.succeeded = int32(v.done.Count())
	if perIndex(v.job) {
		v.failedIndexes = stored
		if storedVerdict(*v) == nil {
			// A pod that ends because the Job does is no failure of its index.
			v.failedIndexes = stored.Union(newlyFailedIndexes(*v).Without(v.done))
		}
		v.lastFailedByIndex = lastFailedPodsByIndex(*v)
	}
}

// newlyEnded returns the pods that satisfy is and are still to be listed. A pod that is listed as failed because it was
// deleted stays so, even if it succeeds while it terminates: it counts once.
func (v *view) newlyEnded(is func(*corev1.Pod) bool) []*corev1.Pod {
	var ended []*corev1.Pod
	for _, p := range v.owned {
		if v.tracked(p) && !v.uncounted.has(p) && v.countable(p) && is(p) {
			ended = append(ended, p)
		}
	}
	return ended
}

// tracked reports whether p still has the finalizer: without it, p is counted or never will be.
func (v *view) tracked(p *corev1.Pod) bool {
	return HasFinalizer(p) && !v.InFlight.FinalizerRemoved.Has(p.UID)
}

// countable reports whether p can count at all: in an indexed Job, only a pod with an index that the Job has.
func (v *view) countable(p *corev1.Pod) bool {
	if !v.indexed() {
		return true
	}
	i := IndexOf(p)
	return i != noIndex && i < v.completions()
}

func (v *view) completions() int { return int(ptr.Deref(v.job.Spec.Completions, 0)) }

func indexesOf(pods []*corev1.Pod) []int {
	indexes := make([]int, 0, len(pods))
	for _, p := range pods {
		if i := IndexOf(p); i != noIndex {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

func byIndexThenUID(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(IndexOf(a), IndexOf(b)), cmp.Compare(a.UID, b.UID))
}

func orEmpty(u *batchv1.UncountedTerminatedPods) *batchv1.UncountedTerminatedPods {
	if u == nil {
		return &batchv1.UncountedTerminatedPods{}
	}
	return u
}
