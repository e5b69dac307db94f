package explain

import stintv1 "github.com/stint-dev/stint/api/stint/v1"

// waits are all that a Job in a state waits for, in the order in which it is told.
func (t *topics) waits(state stintv1.JobState) []stintv1.JobWait {
	var list []stintv1.JobWait
	tell := func(holds bool, waits func() []stintv1.JobWait) {
		if holds {
			list = append(list, waits()...)
		}
	}
	deleted := t.deletion.is()
	goesOn := !deleted && !t.end.is()
	isOpen := goesOn && !t.verdict.is()
	mayRun := isOpen && !t.suspension.is()

	tell(goesOn || deleted, func() []stintv1.JobWait { return t.controller.waits(state) })
	tell(deleted, t.deletion.waits)
	tell(goesOn && t.hold.is(), t.hold.waits)
	tell(isOpen && t.suspension.is() && !t.hold.is(), t.suspension.waits)
	tell(goesOn, t.dependencies.waits)
	tell(mayRun && t.pause.is(), t.pause.waits)
	tell(isOpen && t.refusal.is(), t.refusal.waits)
	tell(t.delay.is() && !t.refusal.isHeldOff(), t.delay.waits)
	tell(true, t.waitingPods.waits)
	tell(mayRun && t.work.isRunning(), t.work.waits)
	tell(!deleted && t.terminating.is(), t.terminating.waits)
	tell(!deleted && t.counting.is(), t.counting.waits)
	return list
}
