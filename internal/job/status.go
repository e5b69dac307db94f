package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/podstatus"
)

// statusDraft is a status under construction with the events about what is new in it.
type statusDraft struct {
	status *batchv1.JobStatus
	events []Event
	now    metav1.Time
	// finished is set if the status ends the Job.
	finished bool
	// satisfied is set if the status is the first in which all dependencies are met.
	satisfied bool
}

func nextStatus(v view, end *Verdict, plan plan, t tally) statusDraft {
	s := statusDraft{status: v.job.Status.DeepCopy(), now: metav1.NewTime(v.Now.Truncate(time.Second))}
	s.countPods(v, t)
	s.countLiving(v, plan)
	follows := end == nil && v.job.DeletionTimestamp == nil
	if follows || s.status.StartTime == nil {
		// A start that is set may only change together with the condition Suspended: the API server refuses it otherwise.
		s.status.StartTime = v.start
	}
	s.updateDependencyConditions(v, end)
	switch {
	case end != nil:
		s.conclude(v, end, t)
	case follows:
		s.updateSuspendedCondition(v)
	}
	return s
}

func (s *statusDraft) countPods(v view, t tally) {
	s.status.UncountedTerminatedPods = &t.uncounted
	s.status.Succeeded += t.succeeded
	s.status.Failed += t.failed
	if !v.indexed() {
		return
	}
	completed := v.completed.With(t.indexes...)
	s.status.CompletedIndexes = completed.String()
	s.status.Succeeded = int32(completed.Count())
	if fixed := !ptr.Equal(v.job.Spec.Completions, v.job.Spec.Parallelism); fixed {
		// The API server accepts a smaller counter only while the Job is elastic, that is, completions equals
		// parallelism. This Job ceased to be elastic before its status was updated.
		s.status.Succeeded = max(s.status.Succeeded, v.job.Status.Succeeded)
	}
	if perIndex(v.job) {
		s.status.FailedIndexes = ptr.To(v.failedIndexes.String())
	}
}

// countLiving counts pods as they will be once the plan is applied.
func (s *statusDraft) countLiving(v view, plan plan) {
	removed := len(plan.deleteWithoutCounting) + len(plan.delete)
	living := countReady(v.active) - countReady(plan.deleteWithoutCounting) - countReady(plan.delete)
	s.status.Active = int32(len(v.active) - removed + len(plan.create))
	s.status.Terminating = ptr.To(int32(len(v.terminating) + removed))
	s.status.Ready = ptr.To(int32(living))
}

func countReady(pods []*corev1.Pod) int {
	n := 0
	for _, p := range pods {
		if podstatus.IsReady(p) {
			n++
		}
	}
	return n
}

// conclude adds the verdict to the status and, once it is stored and no pod is left to end or count, ends the Job. Both
// are never in one write, so that a client that watches the Job sees the verdict first.
func (s *statusDraft) conclude(v view, end *Verdict, t tally) {
	if !end.Stored {
		s.set(end.Condition, corev1.ConditionTrue, end.Reason, end.Message)
		return
	}
	listed := len(t.uncounted.Succeeded) + len(t.uncounted.Failed)
	if !noLivingPods(v) || listed > 0 || hasTrackedPods(v) {
		return
	}
	s.finished = true
	if s.status.StartTime == nil && !hasZeroCompletions(v.job) {
		// A suspended Job can end too, if one of its last pods succeeds. The API server requires a start of finished Jobs.
		s.status.StartTime = &s.now
	}
	s.set(end.Terminal(), corev1.ConditionTrue, end.Reason, end.Message)
	if end.Failure() {
		s.event(corev1.EventTypeWarning, end.Reason, end.Message)
		return
	}
	s.status.CompletionTime = &s.now
	if v.job.Spec.Completions != nil && s.status.Succeeded > *v.job.Spec.Completions {
		s.event(corev1.EventTypeWarning, "TooManySucceededPods", "Too many succeeded pods running after completion count reached")
	}
	s.event(corev1.EventTypeNormal, "Completed", "Job completed")
}

// hasZeroCompletions reports whether a Job is suspended and needs no completions: only such a Job may finish without a
// start.
func hasZeroCompletions(job *batchv1.Job) bool {
	return suspended(job) && ptr.Deref(job.Spec.Completions, 1) == 0
}

func hasTrackedPods(v view) bool {
	for _, p := range v.owned {
		if v.tracked(p) {
			return true
		}
	}
	return false
}

// set adds a condition, in the place of the one of the same type if there is one.
func (s *statusDraft) set(kind batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) {
	c := batchv1.JobCondition{
		Type: kind, Status: status, Reason: reason, Message: message,
		LastProbeTime: s.now, LastTransitionTime: s.now,
	}
	if old := condition(s.status.Conditions, kind); old != nil {
		*old = c
		return
	}
	s.status.Conditions = append(s.status.Conditions, c)
}

func (s *statusDraft) event(kind, reason, message string) {
	s.events = append(s.events, Event{kind, reason, message})
}
