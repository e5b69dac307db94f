package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// state is one that a Job can be in.
type state struct {
	name  stintv1.JobState
	is    func() bool
	since func() *metav1.Time
	say   func() string
}

// states are all of them. The first that a Job is in is its main one; the last holds for every Job.
func (t *topics) states() []state {
	return []state{
		{stintv1.JobDeleting, t.deletion.is, t.deletion.since, t.deletion.say},
		{stintv1.JobComplete, t.end.isComplete, t.end.since, t.end.sayComplete},
		{stintv1.JobFailed, t.end.isFailed, t.end.since, t.end.sayFailed},
		{stintv1.JobUnknownMode, t.controller.knowsNoMode, t.controller.since, t.controller.sayUnknownMode},
		{stintv1.JobCompleting, t.verdict.Success, t.verdict.since, t.verdict.saySuccess},
		{stintv1.JobFailing, t.verdict.Failure, t.verdict.since, t.verdict.sayFailure},
		{stintv1.JobHeld, t.hold.is, t.hold.since, t.hold.say},
		{stintv1.JobSuspended, t.suspension.is, t.suspension.since, t.suspension.say},
		{stintv1.JobUnknownPlan, t.controller.isLeftAlone, t.controller.since, t.controller.sayLeftAlone},
		{stintv1.JobNotSeen, t.controller.hasNotSeen, t.controller.since, t.controller.sayNotSeen},
		{stintv1.JobWaitingForJobs, t.dependencies.is, t.dependencies.since, t.dependencies.say},
		{stintv1.JobScalingDown, t.removal.is, never, t.removal.say},
		{stintv1.JobCreationRefused, t.refusal.isTotal, t.refusal.since, t.refusal.say},
		{stintv1.JobDelayed, t.delay.isTotal, t.delay.since, t.delay.say},
		{stintv1.JobReplacing, t.terminating.areReplaced, t.terminating.since, t.terminating.say},
		{stintv1.JobPaused, t.pause.is, t.pause.since, t.pause.say},
		{stintv1.JobWindingDown, t.work.isWindingDown, t.work.since, t.work.sayWindingDown},
		{stintv1.JobRunning, t.work.isRunning, t.work.since, t.work.sayRunning},
		{stintv1.JobPodsWaiting, t.waitingPods.areHindered, t.waitingPods.since, t.waitingPods.say},
		{stintv1.JobStarting, always, t.work.since, t.work.sayStarting},
	}
}

func always() bool { return true }

func never() *metav1.Time { return nil }

func (t *topics) state() state {
	for _, s := range t.states() {
		if s.is() {
			return s
		}
	}
	panic("the last state holds for every Job")
}
