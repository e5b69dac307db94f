package model_test

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// settle ends the faults, lets every pod succeed and expects everything to end.
func (w *world) settle() {
	w.say("the faults are over")
	for _, p := range slices.Clone(w.processes) {
		w.rest()
		if len(w.processes) > 1 {
			w.leave(p)
			w.work()
		}
	}
	w.work()
	if len(w.processes) == 0 || w.processes[0].leaving {
		w.start(0, 0)
	}
	w.letTheJobEnd()
	w.endOthers()
	for n := 0; ; n++ {
		w.rest()
		w.collectGarbage()
		w.rest()
		if w.over() {
			break
		}
		if n > 30 {
			w.fail("the Job does not end")
		}
		w.playOut()
		w.rest()
		w.pass(waits[min(n, len(waits)-1)])
	}
	w.beQuiet()
	w.ledger.checkEnd()
}

// letTheJobEnd takes away what users hold it up with.
func (w *world) letTheJobEnd() {
	j := w.server.jobs.objects[jobName]
	if j == nil || finished(j) {
		return
	}
	_ = w.server.updateJob(jobName, func(j *batchv1.Job) {
		j.Spec.Suspend = ptr.To(false)
		if *j.Spec.Parallelism == 0 && !w.ledger.scaled(j) {
			j.Spec.Parallelism = ptr.To[int32](3)
		}
	})
}

// waits are what settle lets go by between its steps: the last is longer than any delay.
var waits = []time.Duration{time.Second, time.Second, 30 * time.Second, 11 * time.Minute}

func (w *world) playOut() {
	for _, name := range w.server.pods.names() {
		if p := w.server.pods.objects[name]; p != nil {
			w.run(p)
			w.exit(w.server.pods.objects[name], 0)
			if p := w.server.pods.objects[name]; p != nil {
				w.reap(p)
			}
		}
	}
}

// over tells that there is nothing left for a Job controller to do.
func (w *world) over() bool {
	for _, j := range w.server.jobs.objects {
		if managed(j) && !finished(j) {
			return false
		}
		if j.DeletionTimestamp != nil || managed(j) && w.ledger.surplusFailures(j) > 0 {
			return false
		}
	}
	for _, p := range w.server.pods.objects {
		if held(p) && !w.ledger.foreign(p) {
			return false
		}
	}
	return true
}

// beQuiet sees that nobody asks for anything any more.
func (w *world) beQuiet() {
	w.pass(11 * time.Minute)
	if waiting := w.requests.list(); len(waiting) > 0 {
		w.fail("all is over, and the controller wants to %s %s", waiting[0].verb, waiting[0].object)
	}
}
