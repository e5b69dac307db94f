package explain

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
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
	case job.Finished(e.Job):
		e.nextAfterEnd(add)
	case e.isOfUnknownMode():
		add(time.Time{}, "nothing, as no controller works on it")
	case e.Foreign:
		add(time.Time{}, "whatever %s does, which is not known here", job.ManagerOf(e.Job))
	case e.Verdict != nil:
		add(time.Time{}, "becomes %s", e.Verdict.Terminal())
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
	return job.Finished(e.Job) && !e.isDeleted() && e.Job.Spec.TTLSecondsAfterFinished == nil
}

type addStep func(at time.Time, format string, args ...any)

func (e *explainer) nextAfterEnd(add addStep) {
	end := job.End(e.Job).LastTransitionTime
	if ttl := e.Job.Spec.TTLSecondsAfterFinished; ttl != nil && *ttl >= 0 && !end.IsZero() {
		add(end.Add(time.Duration(*ttl)*time.Second), "is deleted with its pods (ttlSecondsAfterFinished)")
		return
	}
	add(time.Time{}, "stays until it is deleted")
}

func (e *explainer) nextOfPods(add addStep) {
	e.nextPods(add)
	for _, g := range e.waitingPods() {
		if at := e.timeoutOf(g); at != nil {
			add(at.Time, "fails pod %s for not starting in time (%s)", g.pods[0].Name, job.PendingTimeoutSeconds)
		}
	}
	if !e.Deadline.IsZero() {
		add(e.Deadline, "fails, unless it has ended (activeDeadlineSeconds)")
	}
	e.nextOfFailures(add)
	e.nextOfSuccesses(add)
}

// nextOfFailures tells how many are left before the Job fails, where there are some or none is allowed.
func (e *explainer) nextOfFailures(add addStep) {
	limit := job.FailureLimit(e.Job)
	if limit == nil {
		return
	}
	if n := int(*limit-e.Failed) + 1; e.Failed > 0 || n == 1 && !e.isPaused() {
		add(time.Time{}, "fails when %s", counted(n, "more pod")+" "+verb(n, "fails", "fail"))
	}
	if n := e.Restarts; n > 0 {
		add(time.Time{}, "fails when containers have been restarted %s", counted(int(e.RestartLimit-n), "more time"))
	}
}

// nextOfSuccesses tells how the Job ends if its pods do what they are for.
func (e *explainer) nextOfSuccesses(add addStep) {
	n := len(e.Active) + max(e.left(), 0)
	switch remedy := e.neverUnless(); {
	case len(e.Active) == 0:
	case remedy != "":
		add(time.Time{}, "is never complete, unless %s", remedy)
	case e.Job.Spec.SuccessPolicy != nil:
		add(time.Time{}, "is complete when its success policy is met")
	case e.Job.Spec.Completions == nil && e.Succeeded > 0:
		add(time.Time{}, "is complete when all of its pods have ended")
	case e.Job.Spec.Completions == nil:
		add(time.Time{}, "is complete when all of its pods have ended and one has succeeded")
	case e.FailedIndexes.Count() > 0:
		add(time.Time{}, "fails when %s, as %s", counted(n, "more index")+" "+verb(n, "has ended", "have ended"),
			verb(e.FailedIndexes.Count(), "one has failed", "some have failed"))
	default:
		add(time.Time{}, "is complete when %s", counted(n, "more pod")+" "+verb(n, "succeeds", "succeed"))
	}
}

// nextPods tells what the plan makes or ends.
func (e *explainer) nextPods(add addStep) {
	refused := e.refusedSince() != nil
	switch n := e.Create; {
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
	case !e.NextPod.IsZero():
		add(e.NextPod, "gets its next pod")
	case len(e.Discard) > 0:
		add(time.Time{}, "ends %s", counted(len(e.Discard), "pod"))
	case e.isReplacing():
		add(time.Time{}, "replaces pods when they have ended")
	case e.isPaused():
		add(time.Time{}, "never gets pods, unless its parallelism is raised from 0")
	case e.isIdle():
		add(time.Time{}, "is looked at")
	}
}
