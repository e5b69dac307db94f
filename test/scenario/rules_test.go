package scenario_test

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/job"
)

// mostListed is how many pods a Job lists at once as ended and not counted.
const mostListed = 500

// statusRules hold for every write of a Job, whatever the scenario is about. Was is the Job before the write.
var statusRules = []struct {
	says  string
	holds func(w *world, was *knownJob, j *batchv1.Job) bool
}{
	{"the status of a finished Job does not change", func(_ *world, was *knownJob, j *batchv1.Job) bool {
		return !finished(was.Job) || equality.Semantic.DeepEqual(was.Status, j.Status)
	}},
	{"a Job ends in one way", func(_ *world, _ *knownJob, j *batchv1.Job) bool {
		return !isTrue(j, batchv1.JobFailureTarget) || !isTrue(j, batchv1.JobSuccessCriteriaMet)
	}},
	{"a verdict stays", func(_ *world, was *knownJob, j *batchv1.Job) bool {
		return (!isTrue(was.Job, batchv1.JobFailureTarget) || isTrue(j, batchv1.JobFailureTarget)) &&
			(!isTrue(was.Job, batchv1.JobSuccessCriteriaMet) || isTrue(j, batchv1.JobSuccessCriteriaMet))
	}},
	{"FailureTarget comes before Failed", func(w *world, was *knownJob, j *batchv1.Job) bool {
		return w.gaps || !isTrue(j, batchv1.JobFailed) || isTrue(was.Job, batchv1.JobFailureTarget)
	}},
	{"SuccessCriteriaMet comes before Complete", func(w *world, was *knownJob, j *batchv1.Job) bool {
		return w.gaps || !isTrue(j, batchv1.JobComplete) || isTrue(was.Job, batchv1.JobSuccessCriteriaMet)
	}},
	{"a Job that is complete, and no other, has a completionTime", func(_ *world, _ *knownJob, j *batchv1.Job) bool {
		return (j.Status.CompletionTime != nil) == isTrue(j, batchv1.JobComplete)
	}},
	{"startTime moves with suspension only", func(w *world, was *knownJob, j *batchv1.Job) bool {
		return w.gaps || was.Status.StartTime == nil || was.Status.StartTime.Equal(j.Status.StartTime) ||
			isTrue(was.Job, batchv1.JobSuspended) != isTrue(j, batchv1.JobSuspended)
	}},
	{"failed never falls", func(_ *world, was *knownJob, j *batchv1.Job) bool {
		return j.Status.Failed >= was.Status.Failed
	}},
	{"succeeded never falls, unless there are fewer indexes", func(_ *world, was *knownJob, j *batchv1.Job) bool {
		return j.Status.Succeeded >= was.Status.Succeeded || isIndexed(j) && ptr.Deref(j.Spec.Completions, 1) < was.completions
	}},
	{"an index that has ended stays so", func(_ *world, was *knownJob, j *batchv1.Job) bool {
		limit := int(ptr.Deref(j.Spec.Completions, 0))
		return includes(parseIndexes(was.Status.CompletedIndexes), parseIndexes(j.Status.CompletedIndexes), limit) &&
			includes(parseIndexes(ptr.Deref(was.Status.FailedIndexes, "")), parseIndexes(ptr.Deref(j.Status.FailedIndexes, "")), limit)
	}},
	{"no index both succeeds and fails", func(_ *world, _ *knownJob, j *batchv1.Job) bool {
		completed := parseIndexes(j.Status.CompletedIndexes)
		for i := range parseIndexes(ptr.Deref(j.Status.FailedIndexes, "")) {
			if completed[i] {
				return false
			}
		}
		return true
	}},
	{"an indexed Job counts its indexes", func(_ *world, _ *knownJob, j *batchv1.Job) bool {
		return !isIndexed(j) || int(j.Status.Succeeded) == len(parseIndexes(j.Status.CompletedIndexes))
	}},
	{"a pod is listed for counting once", func(_ *world, was *knownJob, j *batchv1.Job) bool {
		now := uncounted(j)
		for i, uid := range now {
			if was.unlisted[uid] || slices.Contains(now[:i], uid) {
				return false
			}
		}
		return true
	}},
	{"no more pods are listed at once than fit into a Job", func(_ *world, _ *knownJob, j *batchv1.Job) bool {
		return len(uncounted(j)) <= mostListed
	}},
	{"no more pods are counted than have ended or were deleted", func(w *world, was *knownJob, j *batchv1.Job) bool {
		succeeded, failed := listedAs(j)
		all := len(was.couldFail)
		for uid := range was.couldSucceed {
			if !was.couldFail[uid] {
				all++
			}
		}
		return w.gaps || int(j.Status.Succeeded)+succeeded <= len(was.couldSucceed) && int(j.Status.Failed)+failed <= len(was.couldFail) &&
			int(j.Status.Succeeded)+succeeded+int(j.Status.Failed)+failed <= all
	}},
	{"no more pods are ready than active", func(_ *world, _ *knownJob, j *batchv1.Job) bool {
		return ptr.Deref(j.Status.Ready, 0) <= j.Status.Active
	}},
	{"the numbers of pods are not negative", func(_ *world, _ *knownJob, j *batchv1.Job) bool {
		return min(j.Status.Active, ptr.Deref(j.Status.Ready, 0), ptr.Deref(j.Status.Terminating, 0)) >= 0
	}},
	{"a Job ends when its last pod has", func(w *world, _ *knownJob, j *batchv1.Job) bool {
		running := w.podsOf(j, func(p *corev1.Pod) bool { return !ended(p) })
		return !finished(j) || ((w.gaps || running == 0) && j.Status.Active == 0 &&
			ptr.Deref(j.Status.Ready, 0) == 0 && ptr.Deref(j.Status.Terminating, 0) == 0)
	}},
	{"a Job ends when its last pod is counted and has no finalizer", func(w *world, was *knownJob, j *batchv1.Job) bool {
		return !finished(j) || finished(was.Job) || (len(uncounted(j)) == 0 && (w.gaps || w.podsOf(j, hasFinalizer) == 0))
	}},
	{"a Job that waits for others has not started", func(_ *world, was *knownJob, j *batchv1.Job) bool {
		return was.Status.StartTime != nil || j.Status.StartTime == nil && j.Status.Active == 0 || hasVerdict(j) || len(unmet(j)) == 0
	}},
	{"what a Job has stopped waiting for it does not wait for again", func(_ *world, was *knownJob, j *batchv1.Job) bool {
		for _, c := range was.Status.Conditions {
			now := condition(j, c.Type)
			if isDependency(c) && c.Status == corev1.ConditionTrue && now != nil && now.Status != corev1.ConditionTrue {
				return false
			}
		}
		return true
	}},
	{"a Job fails by a dependency before it starts, and without pods", func(w *world, was *knownJob, j *batchv1.Job) bool {
		by := condition(j, batchv1.JobFailureTarget)
		return by == nil || by.Reason != core.DependencyFailed ||
			was.Status.Failed+was.Status.Succeeded+j.Status.Failed+j.Status.Succeeded == 0 && (w.gaps || w.podsOf(j, hasFinalizer) == 0)
	}},
}

// unmet returns the dependencies that a Job asks for and that its status does not show to be met.
func unmet(j *batchv1.Job) []core.DependencyRule {
	asked, _ := core.ReadAnnotations(j.Annotations, nil)
	return slices.DeleteFunc(asked.DependsOn, func(d core.DependencyRule) bool { return isTrue(j, onJob(d.Job)) })
}

func isDependency(c batchv1.JobCondition) bool {
	return strings.HasPrefix(string(c.Type), core.DependsOnCondition)
}

// podRules hold for every write of a pod that a Job controls. Old is nil for a new pod.
var podRules = []struct {
	says  string
	holds func(w *world, owner *knownJob, old, p *corev1.Pod) bool
}{
	{"no pod is made after the verdict, or for a suspended Job", func(w *world, owner *knownJob, old, _ *corev1.Pod) bool {
		suspended := ptr.Deref(owner.Spec.Suspend, false) && isTrue(owner.Job, batchv1.JobSuspended)
		return w.gaps || old != nil || (!hasVerdict(owner.Job) && !suspended)
	}},
	{"no more pods live than parallelism allows", func(w *world, owner *knownJob, old, _ *corev1.Pod) bool {
		return w.gaps || old != nil || w.podsOf(owner.Job, alive) <= int(owner.parallelism)
	}},
	{"with podReplacementPolicy Failed, pods that are ending count as living", func(w *world, owner *knownJob, old, _ *corev1.Pod) bool {
		return w.gaps || old != nil || ptr.Deref(owner.Spec.PodReplacementPolicy, "") != batchv1.Failed ||
			w.podsOf(owner.Job, func(p *corev1.Pod) bool { return !ended(p) }) <= int(owner.parallelism)
	}},
	{"an index has one pod at a time, and none once it has succeeded", func(w *world, owner *knownJob, old, p *corev1.Pod) bool {
		if old != nil || !isIndexed(owner.Job) {
			return true
		}
		same := w.podsOf(owner.Job, func(o *corev1.Pod) bool { return alive(o) && indexOf(o) == indexOf(p) })
		return (w.gaps || same == 1) && !parseIndexes(owner.Status.CompletedIndexes)[indexOf(p)]
	}},
	{"a pod of a Job is tracked from the start", func(w *world, _ *knownJob, old, p *corev1.Pod) bool {
		return w.gaps || old != nil || hasFinalizer(p)
	}},
	{"an ended pod loses its finalizer once the Job's status lists it", func(w *world, owner *knownJob, old, p *corev1.Pod) bool {
		removed := old != nil && hasFinalizer(old) && !hasFinalizer(p)
		judged := hasVerdict(owner.Job) || owner.DeletionTimestamp != nil || owner.Spec.PodFailurePolicy != nil || isIndexed(owner.Job)
		return w.gaps || !removed || judged || !ended(old) || owner.listed[p.UID]
	}},
	{"no pod is made before all is over that the Job waits for", func(w *world, owner *knownJob, old, _ *corev1.Pod) bool {
		return w.gaps || old != nil || owner.Status.StartTime != nil || len(unmet(owner.Job)) == 0
	}},
	{"a pod that has started is not failed for waiting", func(_ *world, _ *knownJob, old, p *corev1.Pod) bool {
		return old == nil || ended(old) || !stuck(p) || !slices.ContainsFunc(old.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
			return c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil
		})
	}},
}

// stuck checks that p was failed because it could not start.
func stuck(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == pendingTimeout && c.Status == corev1.ConditionTrue
	})
}
