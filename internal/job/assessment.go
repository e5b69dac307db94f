package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/podstatus"
)

// Assessment describes an observation for explanations (internal/job/explain): the pods, how the Job will end, and what
// is planned. It is computed by the functions that Decide uses, but no decision is made from it.
type Assessment struct {
	Job *batchv1.Job
	Now time.Time
	// ExternalController is set if an external controller manages the Job. Its rules are not known here.
	ExternalController bool

	// Verdict is nil while the Job's end is open. If the Job is finished or has an external controller, it is the stored
	// verdict.
	Verdict *Verdict

	// Owned are the Job's pods, including orphans that are about to be adopted. Of these, Active pods have neither
	// terminated nor been deleted, Terminating pods have been deleted and still run, and Uncounted pods have terminated
	// and wait to be counted.
	Owned, Active, Terminating, Uncounted []*corev1.Pod
	// Ready is the number of active pods that are ready.
	Ready int
	// Succeeded and Failed are the totals, including pods that are not counted yet.
	Succeeded, Failed int32
	FailedIndexes     Indexes
	// Restarts is the number of container restarts that count against the backoff limit. The Job fails when it reaches
	// RestartLimit.
	Restarts, RestartLimit int64

	// Wanted is how many pods should be active.
	Wanted int
	// Create is the number of pods that are about to be created, DeleteWithoutCounting are the pods that are about to be
	// deleted. There are none if the Job is finished or has an external controller.
	Create                int
	DeleteWithoutCounting []*corev1.Pod
	// NextPod is when the next delayed pod may be created; zero if none is delayed.
	NextPod time.Time
	Backoff Backoff
	// CreateFailure is set while the API server is known to refuse the Job's pods. None is created before NextCreateAt.
	CreateFailure *CreateFailure
	NextCreateAt  time.Time

	// UnmetDependencies are the Jobs that must end before this one starts.
	UnmetDependencies []UnmetDependency
	// Start is when the Job became active, Deadline when it fails for being active too long; nil and zero for never.
	Start    *metav1.Time
	Deadline time.Time
	// StartBy is when a pod is failed if it has not started, for pods whose pending timeout runs.
	StartBy map[types.UID]time.Time
}

// Backoff is the delay after failures.
type Backoff struct {
	// Failures is the number of pods that failed since the last one succeeded, and Delay the delay after so many.
	Failures int
	Delay    time.Duration
	// Indexes are those whose next pod is delayed, in a Job with backoffLimitPerIndex.
	Indexes Indexes
	// Since is when the last of the failures happened that the delay is for.
	Since time.Time
}

// UnmetDependency is a dependency that is not met.
type UnmetDependency struct {
	DependencyRule
	// Message says what state the other Job is in: as observed or, if it was not observed, as the condition has it.
	Message string
	// Since is the last transition of the condition about the dependency; zero while there is none.
	Since time.Time
}

// Assess describes obs with the functions that Decide uses.
func Assess(obs Observation) Assessment {
	v, external := newView(obs), hasExternalController(obs.Job)
	if len(v.adopt) > 0 && !external {
		v = newView(withAdopted(obs, v.adopt))
	}
	a := Assessment{
		Job: v.job, Now: v.Now, ExternalController: external,
		Owned: v.owned, Active: v.active, Terminating: v.terminating, Uncounted: uncountedPods(v), Ready: countReady(v.active),
		Succeeded: v.succeeded, Failed: v.failed, FailedIndexes: v.failedIndexes, RestartLimit: restartLimit(v.job),
		Wanted: wantActive(v), Backoff: backoff(v), CreateFailure: v.CreateFailure, NextCreateAt: v.NextCreateAt,
		UnmetDependencies: unmetDependencies(v), Start: v.start, Deadline: deadline(v),
	}
	if v.restartsCount() {
		a.Restarts = v.restarts()
	}
	if !external {
		a.StartBy = startBy(v)
	}
	if external || Finished(v.job) {
		a.Verdict = storedVerdict(v)
		return a
	}
	end, plan := conclude(v)
	a.Verdict, a.Create, a.DeleteWithoutCounting = end, len(plan.create), plan.deleteWithoutCounting
	if plan.after > 0 {
		a.NextPod = v.Now.Add(plan.after)
	}
	return a
}

// withAdopted returns obs as it will be when the orphans are adopted, which Decide does before anything else.
func withAdopted(obs Observation, orphans []*corev1.Pod) Observation {
	obs.Pods = slices.Clone(obs.Pods)
	for i, p := range obs.Pods {
		if slices.Contains(orphans, p) {
			obs.Pods[i] = p.DeepCopy()
			Adopt(obs.Job, obs.Pods[i])
		}
	}
	return obs
}

// uncountedPods returns the terminated pods that keep their finalizer only until they are counted.
func uncountedPods(v view) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(v.owned), func(p *corev1.Pod) bool {
		return !podstatus.IsTerminated(p) || !v.tracked(p) || v.lastFailedByIndex[IndexOf(p)] == p
	})
}

func backoff(v view) Backoff {
	n, last := failuresInARow(v)
	b := Backoff{Failures: n, Delay: v.delayAfter(n), Since: last}
	if !perIndex(v.job) {
		return b
	}
	b.Since = time.Time{}
	for i, p := range v.lastFailedByIndex {
		if indexDelay(v, p) > 0 {
			b.Indexes, b.Since = b.Indexes.With(i), later(b.Since, EndedAt(p))
		}
	}
	return b
}

func unmetDependencies(v view) []UnmetDependency {
	var list []UnmetDependency
	for _, d := range v.unmetDependencies {
		a := UnmetDependency{DependencyRule: d}
		if c := condition(v.job.Status.Conditions, d.condition()); c != nil {
			a.Message, a.Since = c.Message, c.LastTransitionTime.Time
		}
		observed := slices.ContainsFunc(v.Dependencies, func(dep Dependency) bool { return dep.Name == d.Job })
		if a.Message == "" || observed {
			a.Message = v.dependencyState(d).message
		}
		list = append(list, a)
	}
	return list
}

// deadline is zero also while the Job has not started: v.start is then the start that it would have now.
func deadline(v view) time.Time {
	left, bounded := deadlineLeft(v)
	started := !wasSuspended(v.job) && (v.job.Status.StartTime != nil || len(v.owned) > 0)
	if !bounded || !started {
		return time.Time{}
	}
	return v.Now.Add(left)
}

func startBy(v view) map[types.UID]time.Time {
	if v.annotations.PendingTimeout == 0 {
		return nil
	}
	limit, times := v.startLimit(), map[types.UID]time.Time{}
	for _, p := range v.active {
		if left, pending := limit.left(p, v.Now); pending {
			times[p.UID] = v.Now.Add(left)
		}
	}
	return times
}
