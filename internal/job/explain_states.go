package job

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// state is one that a Job can be in.
type state struct {
	name  stintv1.JobState
	is    func(*explainer) bool
	since func(*explainer) *metav1.Time
	say   func(*explainer) string
}

// states are all of them. The first that a Job is in is its main one; the last holds for every Job.
func states() []state {
	return []state{
		{stintv1.JobDeleting, (*explainer).isDeleted, (*explainer).deletedAt, (*explainer).sayDeleting},
		{stintv1.JobComplete, (*explainer).isComplete, (*explainer).finishedAt, (*explainer).sayComplete},
		{stintv1.JobFailed, (*explainer).isFailed, (*explainer).finishedAt, (*explainer).sayFailed},
		{stintv1.JobUnknownMode, (*explainer).isOfUnknownMode, (*explainer).createdAt, (*explainer).sayUnknownMode},
		{stintv1.JobCompleting, (*explainer).isCompleting, (*explainer).settledAt, (*explainer).sayCompleting},
		{stintv1.JobFailing, (*explainer).isFailing, (*explainer).settledAt, (*explainer).sayFailing},
		{stintv1.JobHeld, (*explainer).isHeld, (*explainer).heldSince, (*explainer).sayHeld},
		{stintv1.JobSuspended, (*explainer).isSuspended, (*explainer).suspendedSince, (*explainer).saySuspended},
		{stintv1.JobUnknownPlan, (*explainer).isLeftAlone, (*explainer).createdAt, (*explainer).sayLeftAlone},
		{stintv1.JobNotSeen, (*explainer).isNotSeen, (*explainer).createdAt, (*explainer).sayNotSeen},
		{stintv1.JobWaitingForJobs, (*explainer).waits, (*explainer).createdAt, (*explainer).sayWaitingForJobs},
		{stintv1.JobScalingDown, (*explainer).isScalingDown, never, (*explainer).sayScalingDown},
		{stintv1.JobCreationRefused, (*explainer).isRefused, (*explainer).refusedSince, (*explainer).sayRefused},
		{stintv1.JobDelayed, (*explainer).isDelayed, (*explainer).delayedSince, (*explainer).sayDelayed},
		{stintv1.JobReplacing, (*explainer).isReplacing, (*explainer).terminatingSince, (*explainer).sayReplacing},
		{stintv1.JobPaused, (*explainer).isPaused, (*explainer).pausedSince, (*explainer).sayPaused},
		{stintv1.JobWindingDown, (*explainer).isWindingDown, (*explainer).startedAt, (*explainer).sayWindingDown},
		{stintv1.JobRunning, (*explainer).isRunning, (*explainer).startedAt, (*explainer).sayRunning},
		{stintv1.JobPodsWaiting, (*explainer).isPodsWaiting, (*explainer).podsWaitingSince, (*explainer).sayPodsWaiting},
		{stintv1.JobStarting, always, (*explainer).startedAt, (*explainer).sayStarting},
	}
}

func always(*explainer) bool { return true }

func never(*explainer) *metav1.Time { return nil }

func (e *explainer) state() state {
	for _, s := range states() {
		if s.is(e) {
			return s
		}
	}
	panic("the last state holds for every Job")
}

func (e *explainer) isDeleted() bool { return e.job.DeletionTimestamp != nil }
func (e *explainer) isComplete() bool {
	return isTrue(condition(e.job.Status.Conditions, batchv1.JobComplete))
}
func (e *explainer) isFailed() bool {
	return isTrue(condition(e.job.Status.Conditions, batchv1.JobFailed))
}

func (e *explainer) isOfUnknownMode() bool {
	return !KnowsMode(e.job) && !e.foreign
}

func (e *explainer) isCompleting() bool { return e.end.Success() }
func (e *explainer) isFailing() bool    { return e.end.Failure() }
func (e *explainer) isHeld() bool       { return IsHeld(e.job) }
func (e *explainer) isSuspended() bool  { return suspended(e.job) }
func (e *explainer) isLeftAlone() bool  { return e.foreign && len(e.active) == 0 }

// unnoticed is how long a controller may take to look at a new Job.
const unnoticed = 5 * time.Second

// isNotSeen is told by the status: the first thing that a controller writes is a start or a condition.
func (e *explainer) isNotSeen() bool {
	s := &e.job.Status
	untouched := s.StartTime == nil && len(s.Conditions) == 0 && len(e.owned) == 0 && s.Succeeded+s.Failed == 0
	return untouched && e.Now.Sub(e.job.CreationTimestamp.Time) >= unnoticed
}

func (e *explainer) isScalingDown() bool { return len(e.plan.discard) > 0 }

// isIdle tells that no pod is active nor about to be made.
func (e *explainer) isIdle() bool { return len(e.active) == 0 && len(e.plan.create) == 0 }

func (e *explainer) isRefused() bool {
	return len(e.active) == 0 && e.refusedSince() != nil
}

func (e *explainer) isDelayed() bool { return e.isIdle() && e.plan.after > 0 }
func (e *explainer) isReplacing() bool {
	return e.isIdle() && len(e.terminating) > 0 && wantActive(e.view) > 0
}

func (e *explainer) isPaused() bool {
	return e.isIdle() && ptr.Deref(e.job.Spec.Parallelism, 1) == 0
}

func (e *explainer) isWindingDown() bool {
	return e.job.Spec.Completions == nil && e.succeeded > 0 && len(e.active) > 0
}

func (e *explainer) isRunning() bool { return len(e.runningPods()) > 0 }

func (e *explainer) isPodsWaiting() bool {
	return len(e.active) > 0 && len(e.hindered()) > 0
}

func (e *explainer) sayDeleting() string {
	switch n := len(e.job.Finalizers); n {
	case 0:
		return "is being deleted"
	default:
		return fmt.Sprintf("is being deleted: %s still on it", counted(n, "finalizer"))
	}
}

func (e *explainer) sayComplete() string {
	text := "is complete"
	if took := e.took(); took != "" {
		text += " after " + took
	}
	if c := End(e.job); c.Reason == batchv1.JobReasonSuccessPolicy {
		text += ", by its success policy: " + lowerFirst(c.Message)
	}
	return text
}

func (e *explainer) sayFailed() string {
	text := "has failed"
	if took := e.took(); took != "" {
		text += " after " + took
	}
	c := End(e.job)
	return text + ": " + e.because(c.Reason, c.Message)
}

func (e *explainer) sayUnknownMode() string {
	return fmt.Sprintf("has the completion mode %q, which no controller knows: nobody works on it", *e.job.Spec.CompletionMode)
}

func (e *explainer) sayCompleting() string {
	return "has succeeded: " + e.because(e.end.Reason, e.end.Message) + "; it is complete once " + e.outstanding()
}

func (e *explainer) sayFailing() string {
	return "fails: " + e.because(e.end.Reason, e.end.Message) + "; it ends once " + e.outstanding()
}

// outstanding is what keeps a Job whose end is settled.
func (e *explainer) outstanding() string {
	living := len(e.active) + len(e.terminating)
	switch {
	case living > 0 && e.end.Stored:
		return counted(living, "pod") + " " + verb(living, "has", "have") + " ended"
	case len(e.uncountedPods()) > 0:
		n := len(e.uncountedPods())
		return counted(n, "ended pod") + " " + verb(n, "is", "are") + " counted"
	}
	return "its status is written"
}

func (e *explainer) sayHeld() string {
	if owner := metav1.GetControllerOf(e.job); owner != nil {
		return "waits for other runs of " + strings.ToLower(owner.Kind) + " " + owner.Name + ", whose concurrency policy holds it"
	}
	return "is held by a concurrency policy"
}

func (e *explainer) saySuspended() string {
	text := "is suspended"
	if by := e.suspendedBy(); by != "" {
		text += " (by " + by + ")"
	}
	if n := len(e.active) + len(e.terminating); n > 0 {
		text += ": " + counted(n, "pod") + " " + verb(n, "ends", "end")
	}
	return text
}

func (e *explainer) sayLeftAlone() string {
	return "has no pods; spec.managedBy leaves it to " + ManagerOf(e.job) + ", whose plans are not known here"
}

func (e *explainer) sayNotSeen() string {
	return "no controller has looked at it since it was created"
}

func (e *explainer) sayWaitingForJobs() string {
	return "waits for other Jobs: " + some(entries(e.awaited))
}

func (e *explainer) sayScalingDown() string {
	n := len(e.plan.discard)
	return fmt.Sprintf("has %s more than it should: %s", counted(n, "pod"), verb(n, "it ends", "they end"))
}

func (e *explainer) sayRefused() string { return "gets no pods: the server refuses them" }

func (e *explainer) sayDelayed() string {
	if n := len(e.waitingIndexes()); perIndex(e.job) && n > 0 {
		return fmt.Sprintf("waits after failures: %s to be tried again", counted(n, "index"))
	}
	n, _ := failuresInARow(e.view)
	return fmt.Sprintf("waits after %s in a row", counted(n, "failure"))
}

func (e *explainer) sayReplacing() string {
	n := len(e.terminating)
	return fmt.Sprintf("replaces pods when they have ended: %s still %s to", counted(n, "pod"), verb(n, "has", "have"))
}

func (e *explainer) sayPaused() string { return "is paused: its parallelism is 0" }

func (e *explainer) sayWindingDown() string {
	n := len(e.active)
	return fmt.Sprintf("is done as soon as %s %s: one has succeeded, so there is no more work", counted(n, "active pod"),
		verb(n, "ends", "end"))
}

func (e *explainer) sayRunning() string {
	n := len(e.runningPods())
	text := counted(n, "pod") + " " + verb(n, "runs", "run")
	if others := len(e.active) - n; others > 0 {
		text += fmt.Sprintf(", %d %s", others, verb(others, "waits", "wait"))
	}
	return text
}

func (e *explainer) sayPodsWaiting() string {
	groups := e.hindered()
	if n := len(e.active); n > 1 {
		return fmt.Sprintf("none of its %s runs: %s", counted(n, "pod"), groups[0].reason)
	}
	return "its pod does not run: " + groups[0].reason
}

func (e *explainer) sayStarting() string {
	switch n := len(e.active); {
	case n > 0:
		return counted(n, "pod") + " " + verb(n, "starts", "start")
	case len(e.plan.create) > 0:
		return "is about to get " + counted(len(e.plan.create), "pod")
	}
	return "is about to be looked at"
}
