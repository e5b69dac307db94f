package scenario_test

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// judge checks every write in the scene against the invariants.
func (s *scene) judge() {
	w, changes := newWorld(), s.history.ordered()
	w.gaps, w.reference = s.history.hasGaps(), s.column.reference
	for _, c := range changes {
		for _, broken := range w.take(c) {
			s.Errorf("invariant broken by write %d, %s:\n\t%s", c.version(), c, broken)
		}
	}
}

// world is what is stored after one of the writes.
type world struct {
	jobs map[types.UID]*knownJob
	pods map[types.UID]*corev1.Pod

	crons     map[types.UID]*knownCron
	scheduled map[types.UID]*knownScheduled
	// reference is set where the controllers are upstream's.
	reference bool
	// gaps is set where not every write is known: the state of one object may then be newer than that of another.
	gaps bool
}

func newWorld() *world {
	return &world{
		jobs: map[types.UID]*knownJob{}, pods: map[types.UID]*corev1.Pod{},
		crons: map[types.UID]*knownCron{}, scheduled: map[types.UID]*knownScheduled{},
	}
}

// knownJob is a Job with what is known from its earlier writes.
type knownJob struct {
	*batchv1.Job
	// parallelism and completions are the largest that the Job ever had.
	parallelism, completions int32
	// listed are the pods that were ever listed as ended but not counted; unlisted are those that are no longer listed.
	listed, unlisted map[types.UID]bool
	// couldSucceed and couldFail are the pods that may ever have been counted.
	couldSucceed, couldFail map[types.UID]bool
}

// take applies a write and returns the invariants that it breaks.
func (w *world) take(c change) []string {
	switch o := c.object.(type) {
	case *batchv1.Job:
		return w.takeJob(o, c.deleted)
	case *corev1.Pod:
		return w.takePod(o, c.deleted)
	case *batchv1.CronJob:
		return w.takeCron(o, c.deleted)
	case *stintv1.ScheduledJob:
		return w.takeScheduled(o, c.deleted)
	}
	return nil
}

func (w *world) takeJob(j *batchv1.Job, gone bool) []string {
	if gone {
		delete(w.jobs, j.UID)
		return nil
	}
	var broken []string
	known := w.jobs[j.UID]
	if known == nil {
		broken = w.takeRun(j)
		known = &knownJob{Job: &batchv1.Job{}, listed: map[types.UID]bool{}, unlisted: map[types.UID]bool{},
			couldSucceed: map[types.UID]bool{}, couldFail: map[types.UID]bool{}}
		w.jobs[j.UID] = known
	}
	known.parallelism = max(known.parallelism, ptr.Deref(j.Spec.Parallelism, 1))
	known.completions = max(known.completions, ptr.Deref(j.Spec.Completions, 1))
	for _, rule := range statusRules {
		if !rule.holds(w, known, j) {
			broken = append(broken, rule.says)
		}
	}
	known.follow(j)
	return broken
}

func (k *knownJob) follow(j *batchv1.Job) {
	now := uncounted(j)
	for _, uid := range uncounted(k.Job) {
		if !slices.Contains(now, uid) {
			k.unlisted[uid] = true
		}
	}
	for _, uid := range now {
		k.listed[uid] = true
	}
	k.Job = j
}

func (w *world) takePod(p *corev1.Pod, gone bool) []string {
	old := w.pods[p.UID]
	owner := w.owner(p)
	if gone {
		delete(w.pods, p.UID)
	} else {
		w.pods[p.UID] = p
	}
	if owner == nil {
		return nil
	}
	owner.note(p)
	var broken []string
	for _, rule := range podRules {
		if !gone && !rule.holds(w, owner, old, p) {
			broken = append(broken, rule.says)
		}
	}
	return broken
}

func (k *knownJob) note(p *corev1.Pod) {
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		k.couldSucceed[p.UID] = true
	case p.Status.Phase == corev1.PodFailed || p.DeletionTimestamp != nil:
		k.couldFail[p.UID] = true
	}
}

func (w *world) owner(p *corev1.Pod) *knownJob {
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		return w.jobs[ref.UID]
	}
	return nil
}

// podsOf returns how many pods the Job has for which which is true.
func (w *world) podsOf(j *batchv1.Job, which func(*corev1.Pod) bool) int {
	n := 0
	for _, p := range w.pods {
		if ownedBy(p, j.UID) && which(p) {
			n++
		}
	}
	return n
}

func uncounted(j *batchv1.Job) []types.UID {
	u := j.Status.UncountedTerminatedPods
	if u == nil {
		return nil
	}
	return slices.Concat(u.Succeeded, u.Failed)
}

func listedAs(j *batchv1.Job) (succeeded, failed int) {
	if u := j.Status.UncountedTerminatedPods; u != nil {
		return len(u.Succeeded), len(u.Failed)
	}
	return 0, 0
}

func isIndexed(j *batchv1.Job) bool {
	return ptr.Deref(j.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
}

func hasVerdict(j *batchv1.Job) bool {
	return isTrue(j, batchv1.JobFailureTarget) || isTrue(j, batchv1.JobSuccessCriteriaMet)
}

func alive(p *corev1.Pod) bool { return !ended(p) && p.DeletionTimestamp == nil }

func parseIndexes(text string) map[int]bool {
	all := map[int]bool{}
	for text != "" {
		var first, last int
		part := text
		if i := slices.Index([]byte(text), ','); i >= 0 {
			part, text = text[:i], text[i+1:]
		} else {
			text = ""
		}
		if n, _ := fmt.Sscanf(part, "%d-%d", &first, &last); n == 1 {
			last = first
		}
		for i := first; i <= last; i++ {
			all[i] = true
		}
	}
	return all
}

// includes reports whether now still has all of old that is below limit.
func includes(old, now map[int]bool, limit int) bool {
	for i := range old {
		if i < limit && !now[i] {
			return false
		}
	}
	return true
}
