package explain

import stintv1 "github.com/stint-dev/stint/api/stint/v1"

// waits returns all that a Job in the given state waits for, in the order of the explanation.
func (t *topics) waits(state stintv1.JobState) []stintv1.JobWait {
	var list []stintv1.JobWait
	add := func(holds bool, waits func() []stintv1.JobWait) {
		if holds {
			list = append(list, waits()...)
		}
	}
	deleted := t.deletion.applies()
	goesOn := !deleted && !t.end.applies()
	isOpen := goesOn && !t.verdict.applies()
	mayRun := isOpen && !t.suspension.applies()

	add(goesOn || deleted, func() []stintv1.JobWait { return t.controller.waits(state) })
	add(deleted, t.deletion.waits)
	add(goesOn && t.concurrencyWait.applies(), t.concurrencyWait.waits)
	add(isOpen && t.suspension.applies() && !t.concurrencyWait.applies(), t.suspension.waits)
	add(goesOn, t.dependencies.waits)
	add(mayRun && t.zeroParallelism.applies(), t.zeroParallelism.waits)
	add(isOpen && t.refusal.applies(), t.refusal.waits)
	add(t.delay.applies() && !t.refusal.isDelayed(), t.delay.waits)
	add(isOpen, t.needs.waits)
	add(true, t.waitingPods.waits)
	add(mayRun && t.activePods.isRunning(), t.activePods.waits)
	add(!deleted && t.terminating.applies(), t.terminating.waits)
	add(!deleted && t.uncountedPods.applies(), t.uncountedPods.waits)
	return list
}
