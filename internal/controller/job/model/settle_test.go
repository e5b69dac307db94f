package model_test

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// settle plays the rest of a history without faults, in which every pod succeeds. It expects the Job to finish.
func (w *world) settle() {
	w.Logf("the faults are over")
	for _, p := range slices.Clone(w.Processes) {
		w.RunUntilIdle()
		if len(w.Processes) > 1 {
			w.Stop(p)
			w.Work()
		}
	}
	w.Work()
	if len(w.Processes) == 0 || w.Processes[0].Stopping() {
		w.start(0, 0)
	}
	w.resumeJob()
	w.endOthers()
	for n := 0; ; n++ {
		w.RunUntilIdle()
		w.collectGarbage()
		w.RunUntilIdle()
		if w.isDone() {
			break
		}
		if n > maxWaits {
			w.Fail("the Job does not end")
		}
		w.finishPods()
		w.RunUntilIdle()
		w.Pass(waits[min(n, len(waits)-1)])
	}
	w.expectIdle()
	w.ledger.checkEnd()
}

// resumeJob resumes the Job, and scales it up from 0.
func (w *world) resumeJob() {
	j := w.job(jobName)
	if j == nil || finished(j) {
		return
	}
	_ = w.updateJob(jobName, func(j *batchv1.Job) {
		j.Spec.Suspend = ptr.To(false)
		if *j.Spec.Parallelism == 0 && !w.ledger.scaled(j) {
			j.Spec.Parallelism = ptr.To[int32](3)
		}
	})
}

// waits are the times between the steps of settle; the last one is longer than any delay without annotations.
var waits = []time.Duration{time.Second, time.Second, 30 * time.Second, 11 * time.Minute}

// maxWaits is enough for seven pods, one at a time, each of which first exceeds its pending timeout and is then delayed by the
// longest backoff-seconds.
const maxWaits = 60

func (w *world) finishPods() {
	for _, name := range w.podNames() {
		if p := w.pod(name); p != nil {
			w.run(p)
			w.exit(w.pod(name), 0)
			if p := w.pod(name); p != nil {
				w.reap(p)
			}
		}
	}
}

// isDone reports whether a Job controller has nothing left to do.
func (w *world) isDone() bool {
	for _, j := range w.jobs.All() {
		if managed(j) && !finished(j) {
			return false
		}
		if j.DeletionTimestamp != nil || managed(j) && w.ledger.surplusFailures(j) > 0 {
			return false
		}
	}
	for _, p := range w.pods.All() {
		if hasFinalizer(p) && !w.ledger.isOfAnotherController(p) {
			return false
		}
	}
	return true
}

// expectIdle expects that no process sends another request.
func (w *world) expectIdle() {
	w.Pass(11 * time.Minute)
	if waiting := w.Waiting(); len(waiting) > 0 {
		w.Fail("all is over, and the controller wants to %s %s", waiting[0].What(), waiting[0].Name)
	}
}
