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

// Assessment is what the core makes of an observation, for those who tell of it: what is there, how the Job will end,
// and what is planned. It is for reading: no decision is made from it.
type Assessment struct {
	Job *batchv1.Job
	Now time.Time
	// ExternalController is set where the Job is left to a controller whose rules are not known here.
	ExternalController bool

	// Verdict is nil while the Job's end is open. Of a Job that is foreign or finished it is the stored one.
	Verdict *Verdict

	// Owned are the Job's pods, also those that are about to be adopted. Among them, Active ones have neither ended nor
	// been told to, Terminating ones have only been told to, and Uncounted ones have ended and wait to be counted.
	Owned, Active, Terminating, Uncounted []*corev1.Pod
	// Ready is how many of the active pods are.
	Ready int
	// Succeeded and Failed are the totals, with pods that are not counted yet.
	Succeeded, Failed int32
	FailedIndexes     Indexes
	// Restarts are those that count against the backoff limit. The Job fails at RestartLimit of them.
	Restarts, RestartLimit int64

	// Wanted is how many pods should be active.
	Wanted int
	// Create is how many pods are about to be created, and Discard are those about to be ended. A Job that is foreign or
	// finished has neither.
	Create          int
	DeleteUncounted []*corev1.Pod
	// NextPod is when a pod may be created that may not be now; zero where none waits for a time.
	NextPod time.Time
	Backoff Backoff
	// CreateFailure is set while the controller is known to be refused pods. It asks for none until NextCreateAt.
	CreateFailure *CreateFailure
	NextCreateAt  time.Time

	// UnmetDependencies are the Jobs that must end before this one starts.
	UnmetDependencies []UnmetDependency
	// Start is when the Job became active, Deadline when it fails for being active too long; nil and zero for never.
	Start    *metav1.Time
	Deadline time.Time
	// StartBy is when each pod that may only take so long to start is failed for not having started.
	StartBy map[types.UID]time.Time
}

// Backoff is the delay after failures.
type Backoff struct {
	// Failures is the number of pods that failed since the last one succeeded, and Delay what that costs.
	Failures int
	Delay    time.Duration
	// Indexes are those that wait for their next pod, in a Job that has a limit for each index.
	Indexes Indexes
	// Since is the last of the failures that are waited after.
	Since time.Time
}

// UnmetDependency is a dependency that is not met.
type UnmetDependency struct {
	DependencyRule
	// Message tells how far the other Job has come: as observed, else as the status has it.
	Message string
	// Since is when the status took note of it; zero while it has not.
	Since time.Time
}

// Assess returns what Decide would go by, found by the same functions.
func Assess(obs Observation) Assessment {
	v, foreign := newView(obs), hasExternalController(obs.Job)
	if len(v.adopt) > 0 && !foreign {
		v = newView(withAdopted(obs, v.adopt))
	}
	a := Assessment{
		Job: v.job, Now: v.Now, ExternalController: foreign,
		Owned: v.owned, Active: v.active, Terminating: v.terminating, Uncounted: uncountedPods(v), Ready: countReady(v.active),
		Succeeded: v.succeeded, Failed: v.failed, FailedIndexes: v.failedIndexes, RestartLimit: restartLimit(v.job),
		Wanted: wantActive(v), Backoff: backoff(v), CreateFailure: v.CreateFailure, NextCreateAt: v.NextCreateAt,
		UnmetDependencies: unmetDependencies(v), Start: v.start, Deadline: deadline(v),
	}
	if v.restartsCount() {
		a.Restarts = v.restarts()
	}
	if !foreign {
		a.StartBy = startBy(v)
	}
	if foreign || Finished(v.job) {
		a.Verdict = storedVerdict(v)
		return a
	}
	end, plan := conclude(v)
	a.Verdict, a.Create, a.DeleteUncounted = end, len(plan.create), plan.deleteUncounted
	if plan.after > 0 {
		a.NextPod = v.Now.Add(plan.after)
	}
	return a
}

// withAdopted is what is observed once the orphans are adopted, which every decision begins with.
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

// uncountedPods have ended, and only being counted keeps their finalizer.
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

// deadline is zero also while the Job's start is only what it would be if the Job started now.
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
