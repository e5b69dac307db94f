package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// state is a state that a Job can be in.
type state struct {
	name    stintv1.JobState
	applies func() bool
	since   func() *metav1.Time
	summary func() string
}

// states returns all states. Several may apply: the first of them is the Job's. The last applies to every Job.
func (t *topics) states() []state {
	return []state{
		{stintv1.JobDeleting, t.deletion.applies, t.deletion.since, t.deletion.summary},
		{stintv1.JobComplete, t.end.isComplete, t.end.since, t.end.summaryComplete},
		{stintv1.JobFailed, t.end.isFailed, t.end.since, t.end.summaryFailed},
		{stintv1.JobUnknownMode, t.controller.hasUnknownMode, t.controller.since, t.controller.summaryUnknownMode},
		{stintv1.JobCompleting, t.verdict.Success, t.verdict.since, t.verdict.summarySuccess},
		{stintv1.JobFailing, t.verdict.Failure, t.verdict.since, t.verdict.summaryFailure},
		{stintv1.JobHeld, t.concurrencyWait.applies, t.concurrencyWait.since, t.concurrencyWait.summary},
		{stintv1.JobSuspended, t.suspension.applies, t.suspension.since, t.suspension.summary},
		{stintv1.JobUnknownPlan, t.controller.isExternal, t.controller.since, t.controller.summaryExternal},
		{stintv1.JobNotSeen, t.controller.isUnobserved, t.controller.since, t.controller.summaryUnobserved},
		{stintv1.JobWaitingForJobs, t.dependencies.applies, t.dependencies.since, t.dependencies.summary},
		{stintv1.JobScalingDown, t.scaleDown.applies, never, t.scaleDown.summary},
		{stintv1.JobCreationRefused, t.refusal.isTotal, t.refusal.since, t.refusal.summary},
		{stintv1.JobDelayed, t.delay.isTotal, t.delay.since, t.delay.summary},
		{stintv1.JobReplacing, t.terminating.areReplaced, t.terminating.since, t.terminating.summary},
		{stintv1.JobPaused, t.zeroParallelism.applies, t.zeroParallelism.since, t.zeroParallelism.summary},
		{stintv1.JobWindingDown, t.activePods.isDraining, t.activePods.since, t.activePods.summaryDraining},
		{stintv1.JobRunning, t.activePods.isRunning, t.activePods.since, t.activePods.summaryRunning},
		{stintv1.JobPodsWaiting, t.waitingPods.areWaiting, t.waitingPods.since, t.waitingPods.summary},
		{stintv1.JobStarting, always, t.activePods.since, t.activePods.summaryStarting},
	}
}

func always() bool { return true }

func never() *metav1.Time { return nil }

func (t *topics) state() state {
	for _, s := range t.states() {
		if s.applies() {
			return s
		}
	}
	panic("the last state holds for every Job")
}
