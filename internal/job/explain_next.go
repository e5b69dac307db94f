package job

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// next is what happens by itself: what has no time first.
func (e *explainer) next() []stintv1.JobStep {
	var steps []stintv1.JobStep
	add := func(at time.Time, format string, args ...any) {
		steps = append(steps, stintv1.JobStep{What: fmt.Sprintf(format, args...), At: moment(at)})
	}
	switch {
	case e.about.NoController && !e.stays():
		add(time.Time{}, "nothing, until a server runs")
	case e.isDeleted():
		add(time.Time{}, "is gone when its finalizers are")
	case Finished(e.job):
		e.nextAfterEnd(add)
	case e.isOfUnknownMode():
		add(time.Time{}, "nothing, as no controller works on it")
	case e.foreign:
		add(time.Time{}, "whatever %s does, which is not known here", ManagerOf(e.job))
	case e.end != nil:
		add(time.Time{}, "becomes %s", e.end.Terminal())
	case e.isHeld():
		add(time.Time{}, "starts when its turn comes")
	case e.isSuspended():
		add(time.Time{}, "never goes on, unless it is resumed")
	case e.waits():
		add(time.Time{}, "starts when those Jobs have ended as asked")
	default:
		e.nextOfPods(add)
	}
	slices.SortStableFunc(steps, func(a, b stintv1.JobStep) int {
		return ptr.Deref(a.At, metav1.Time{}).Compare(ptr.Deref(b.At, metav1.Time{}).Time)
	})
	return steps
}

// stays tells of a Job that no controller has to do with any more.
func (e *explainer) stays() bool {
	return Finished(e.job) && !e.isDeleted() && e.job.Spec.TTLSecondsAfterFinished == nil
}

type addStep func(at time.Time, format string, args ...any)

func (e *explainer) nextAfterEnd(add addStep) {
	end := End(e.job).LastTransitionTime
	if ttl := e.job.Spec.TTLSecondsAfterFinished; ttl != nil && *ttl >= 0 && !end.IsZero() {
		add(end.Add(time.Duration(*ttl)*time.Second), "is deleted with its pods (ttlSecondsAfterFinished)")
		return
	}
	add(time.Time{}, "stays until it is deleted")
}

func (e *explainer) nextOfPods(add addStep) {
	e.nextPods(add)
	for _, g := range e.waitingPods() {
		if at := e.timeoutOf(g); at != nil {
			add(at.Time, "fails pod %s for not starting in time (%s)", g.pods[0].Name, PendingTimeoutSeconds)
		}
	}
	if left, bounded := deadlineLeft(e.view); bounded && e.hasStarted() {
		add(e.Now.Add(left), "fails, unless it has ended (activeDeadlineSeconds)")
	}
	e.nextOfFailures(add)
	e.nextOfSuccesses(add)
}

// nextOfFailures tells how many are left before the Job fails, where there are some or none is allowed.
func (e *explainer) nextOfFailures(add addStep) {
	limit := FailureLimit(e.job)
	if limit == nil {
		return
	}
	if n := int(*limit-e.failed) + 1; e.failed > 0 || n == 1 && !e.isPaused() {
		add(time.Time{}, "fails when %s", counted(n, "more pod")+" "+verb(n, "fails", "fail"))
	}
	if n := e.restarts(); n > 0 && e.restartsCount() {
		add(time.Time{}, "fails when containers have been restarted %s", counted(int(restartLimit(e.job)-n), "more time"))
	}
}

// nextOfSuccesses tells how the Job ends if its pods do what they are for.
func (e *explainer) nextOfSuccesses(add addStep) {
	n := len(e.active) + max(e.left(), 0)
	switch remedy := e.neverUnless(); {
	case len(e.active) == 0:
	case remedy != "":
		add(time.Time{}, "is never complete, unless %s", remedy)
	case e.job.Spec.SuccessPolicy != nil:
		add(time.Time{}, "is complete when its success policy is met")
	case e.job.Spec.Completions == nil && e.succeeded > 0:
		add(time.Time{}, "is complete when all of its pods have ended")
	case e.job.Spec.Completions == nil:
		add(time.Time{}, "is complete when all of its pods have ended and one has succeeded")
	case e.failedIndexes.Count() > 0:
		add(time.Time{}, "fails when %s, as %s", counted(n, "more index")+" "+verb(n, "has ended", "have ended"),
			verb(e.failedIndexes.Count(), "one has failed", "some have failed"))
	default:
		add(time.Time{}, "is complete when %s", counted(n, "more pod")+" "+verb(n, "succeeds", "succeed"))
	}
}

// nextPods tells what the plan makes or ends.
func (e *explainer) nextPods(add addStep) {
	refused := e.refusedSince() != nil
	switch n := len(e.plan.create); {
	case refused && e.NoPodsBefore.After(e.Now):
		add(e.NoPodsBefore, "asks the server again for pods")
	case refused && e.about.TimesAssumed:
		add(time.Time{}, "asks the server again for pods")
	case refused:
		add(time.Time{}, "asks the server again for pods, at least every minute")
	case n > 0 && e.isNotSeen():
		add(time.Time{}, "gets %s as soon as a controller looks at it", counted(n, "pod"))
	case n > 0:
		add(time.Time{}, "gets %s", counted(n, "pod"))
	case e.plan.after > 0:
		add(e.Now.Add(e.plan.after), "gets its next pod")
	case len(e.plan.discard) > 0:
		add(time.Time{}, "ends %s", counted(len(e.plan.discard), "pod"))
	case e.isReplacing():
		add(time.Time{}, "replaces pods when they have ended")
	case e.isPaused():
		add(time.Time{}, "never gets pods, unless its parallelism is raised from 0")
	case e.isIdle():
		add(time.Time{}, "is looked at")
	}
}

// hasStarted tells that the start is known, and not just what it would be if the Job started now.
func (e *explainer) hasStarted() bool {
	return !wasSuspended(e.job) && (e.job.Status.StartTime != nil || len(e.owned) > 0)
}
