package explain

import stintv1 "github.com/stint-dev/stint/api/stint/v1"

// waits returns all that a Job in the given state waits for, in the order of the explanation.
func (t *topics) waits(state stintv1.JobState) []stintv1.JobWait {
	var list []stintv1.JobWait
	tell := func(holds bool, waits func() []stintv1.JobWait) {
		if holds {
			list = append(list, waits()...)
		}
	}
	deleted := t.deletion.applies()
	goesOn := !deleted && !t.end.applies()
	isOpen := goesOn && !t.verdict.applies()
	mayRun := isOpen && !t.suspension.applies()

	tell(goesOn || deleted, func() []stintv1.JobWait { return t.controller.waits(state) })
	tell(deleted, t.deletion.waits)
	tell(goesOn && t.concurrencyWait.applies(), t.concurrencyWait.waits)
	tell(isOpen && t.suspension.applies() && !t.concurrencyWait.applies(), t.suspension.waits)
	tell(goesOn, t.dependencies.waits)
	tell(mayRun && t.zeroParallelism.applies(), t.zeroParallelism.waits)
	tell(isOpen && t.refusal.applies(), t.refusal.waits)
	tell(t.delay.applies() && !t.refusal.isDelayed(), t.delay.waits)
	tell(true, t.waitingPods.waits)
	tell(mayRun && t.activePods.isRunning(), t.activePods.waits)
	tell(!deleted && t.terminating.applies(), t.terminating.waits)
	tell(!deleted && t.uncountedPods.applies(), t.uncountedPods.waits)
	return list
}
