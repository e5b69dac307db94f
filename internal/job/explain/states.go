package explain

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
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

func (e *explainer) isDeleted() bool { return e.Job.DeletionTimestamp != nil }
func (e *explainer) isComplete() bool {
	return condition(e.Job, batchv1.JobComplete) != nil
}
func (e *explainer) isFailed() bool {
	return condition(e.Job, batchv1.JobFailed) != nil
}

func (e *explainer) isOfUnknownMode() bool {
	return !job.KnowsMode(e.Job) && !e.Foreign
}

func (e *explainer) isCompleting() bool { return e.Verdict.Success() }
func (e *explainer) isFailing() bool    { return e.Verdict.Failure() }
func (e *explainer) isHeld() bool       { return job.IsHeld(e.Job) }
func (e *explainer) isSuspended() bool  { return ptr.Deref(e.Job.Spec.Suspend, false) }
func (e *explainer) isLeftAlone() bool  { return e.Foreign && len(e.Active) == 0 }

// unnoticed is how long a controller may take to look at a new Job.
const unnoticed = 5 * time.Second

// isNotSeen is told by the status: the first thing that a controller writes is a start or a condition.
func (e *explainer) isNotSeen() bool {
	s := &e.Job.Status
	untouched := s.StartTime == nil && len(s.Conditions) == 0 && len(e.Owned) == 0 && s.Succeeded+s.Failed == 0
	return untouched && e.Now.Sub(e.Job.CreationTimestamp.Time) >= unnoticed
}

func (e *explainer) waits() bool { return len(e.Awaited) > 0 }

func (e *explainer) isScalingDown() bool { return len(e.Discard) > 0 }

// isIdle tells that no pod is active nor about to be made.
func (e *explainer) isIdle() bool { return len(e.Active) == 0 && e.Create == 0 }

func (e *explainer) isRefused() bool {
	return len(e.Active) == 0 && e.refusedSince() != nil
}

func (e *explainer) isDelayed() bool { return e.isIdle() && !e.NextPod.IsZero() }
func (e *explainer) isReplacing() bool {
	return e.isIdle() && len(e.Terminating) > 0 && e.Wanted > 0
}

func (e *explainer) isPaused() bool {
	return e.isIdle() && ptr.Deref(e.Job.Spec.Parallelism, 1) == 0
}

func (e *explainer) isWindingDown() bool {
	return e.Job.Spec.Completions == nil && e.Succeeded > 0 && len(e.Active) > 0
}

func (e *explainer) isRunning() bool { return len(e.runningPods()) > 0 }

func (e *explainer) isPodsWaiting() bool {
	return len(e.Active) > 0 && len(e.hindered()) > 0
}

func (e *explainer) sayDeleting() string {
	switch n := len(e.Job.Finalizers); n {
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
	if c := job.End(e.Job); c.Reason == batchv1.JobReasonSuccessPolicy {
		text += ", by its success policy: " + lowerFirst(c.Message)
	}
	return text
}

func (e *explainer) sayFailed() string {
	text := "has failed"
	if took := e.took(); took != "" {
		text += " after " + took
	}
	c := job.End(e.Job)
	return text + ": " + e.because(c.Reason, c.Message)
}

func (e *explainer) sayUnknownMode() string {
	return fmt.Sprintf("has the completion mode %q, which no controller knows: nobody works on it", *e.Job.Spec.CompletionMode)
}

func (e *explainer) sayCompleting() string {
	return "has succeeded: " + e.because(e.Verdict.Reason, e.Verdict.Message) + "; it is complete once " + e.outstanding()
}

func (e *explainer) sayFailing() string {
	return "fails: " + e.because(e.Verdict.Reason, e.Verdict.Message) + "; it ends once " + e.outstanding()
}

// outstanding is what keeps a Job whose end is settled.
func (e *explainer) outstanding() string {
	living := len(e.Active) + len(e.Terminating)
	switch {
	case living > 0 && e.Verdict.Stored:
		return counted(living, "pod") + " " + verb(living, "has", "have") + " ended"
	case len(e.Uncounted) > 0:
		n := len(e.Uncounted)
		return counted(n, "ended pod") + " " + verb(n, "is", "are") + " counted"
	}
	return "its status is written"
}

func (e *explainer) sayHeld() string {
	if owner := metav1.GetControllerOf(e.Job); owner != nil {
		return "waits for other runs of " + strings.ToLower(owner.Kind) + " " + owner.Name + ", whose concurrency policy holds it"
	}
	return "is held by a concurrency policy"
}

func (e *explainer) saySuspended() string {
	text := "is suspended"
	if by := e.suspendedBy(); by != "" {
		text += " (by " + by + ")"
	}
	if n := len(e.Active) + len(e.Terminating); n > 0 {
		text += ": " + counted(n, "pod") + " " + verb(n, "ends", "end")
	}
	return text
}

func (e *explainer) sayLeftAlone() string {
	return "has no pods; spec.managedBy leaves it to " + job.ManagerOf(e.Job) + ", whose plans are not known here"
}

func (e *explainer) sayNotSeen() string {
	return "no controller has looked at it since it was created"
}

func (e *explainer) sayWaitingForJobs() string {
	var entries []string
	for _, d := range e.Awaited {
		entries = append(entries, d.String())
	}
	return "waits for other Jobs: " + some(entries)
}

func (e *explainer) sayScalingDown() string {
	n := len(e.Discard)
	return fmt.Sprintf("has %s more than it should: %s", counted(n, "pod"), verb(n, "it ends", "they end"))
}

func (e *explainer) sayRefused() string { return "gets no pods: the server refuses them" }

func (e *explainer) sayDelayed() string {
	if n := e.Backoff.Indexes.Count(); perIndex(e.Job) && n > 0 {
		return fmt.Sprintf("waits after failures: %s to be tried again", counted(n, "index"))
	}
	return fmt.Sprintf("waits after %s in a row", counted(e.Backoff.Failures, "failure"))
}

func (e *explainer) sayReplacing() string {
	n := len(e.Terminating)
	return fmt.Sprintf("replaces pods when they have ended: %s still %s to", counted(n, "pod"), verb(n, "has", "have"))
}

func (e *explainer) sayPaused() string { return "is paused: its parallelism is 0" }

func (e *explainer) sayWindingDown() string {
	n := len(e.Active)
	return fmt.Sprintf("is done as soon as %s %s: one has succeeded, so there is no more work", counted(n, "active pod"),
		verb(n, "ends", "end"))
}

func (e *explainer) sayRunning() string {
	n := len(e.runningPods())
	text := counted(n, "pod") + " " + verb(n, "runs", "run")
	if others := len(e.Active) - n; others > 0 {
		text += fmt.Sprintf(", %d %s", others, verb(others, "waits", "wait"))
	}
	return text
}

func (e *explainer) sayPodsWaiting() string {
	groups := e.hindered()
	if n := len(e.Active); n > 1 {
		return fmt.Sprintf("none of its %s runs: %s", counted(n, "pod"), groups[0].reason)
	}
	return "its pod does not run: " + groups[0].reason
}

func (e *explainer) sayStarting() string {
	switch n := len(e.Active); {
	case n > 0:
		return counted(n, "pod") + " " + verb(n, "starts", "start")
	case e.Create > 0:
		return "is about to get " + counted(e.Create, "pod")
	}
	return "is about to be looked at"
}
