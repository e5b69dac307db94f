package model_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/simulated"
)

// showOneByOne shows the pods' changes one at a time, and serves the controller's requests after each.
func (w *world) showOneByOne() {
	p := w.process(0)
	for p.pods.Behind() > 0 {
		w.Deliver(p.pods, 1, false)
		w.Work()
		w.Pass(time.Second)
	}
}

func TestAPodThatTheNextControllerIsShownLateIsNotCountedAgain(t *testing.T) {
	for name, happens := range map[string]func(w *world, pod string){
		"which is there still": func(*world, string) {},
		"which was deleted":    func(w *world, pod string) { w.deletePod(w.pod(pod), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			mustPlay(t, func(w *world) {
				w.begin(aJob().Completions(4).Parallelism(2))
				w.exitWith()
				ends := w.activePods()[1].Name
				w.exit(w.pod(ends), 0)
				w.catchUp()
				happens(w, ends)
				w.Stop(w.Processes[0])
				w.Work()
				w.start(0, w.pods.Since(0)-1) // Its list has only the first change: the first pod, just created.
				w.Work()
				w.showOneByOne()
				if n := w.theJob().Status.Succeeded; n != 1 {
					w.Fail("%d pods have succeeded, want 1", n)
				}
				w.settle()
			})
		})
	}
}

func TestAPodThatIsListedAndNotShownYetIsCountedOnce(t *testing.T) {
	mustPlay(t, func(w *world) {
		w.begin(aJob().Completions(2).Parallelism(1))
		w.exitWith(0)
		w.serveUntil("modify pod")
		if len(w.theJob().Status.UncountedTerminatedPods.Succeeded) != 1 {
			w.Fail("the pod is not listed")
		}
		w.Kill(w.Processes[0], func(*simulated.Request) bool { return false })
		// The next controller creates no pod, which would be a reason of its own to list them.
		_ = w.updateJob(jobName, func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) })
		w.start(0, w.pods.Since(0))
		for range 3 {
			w.Work()
			w.Pass(time.Second)
		}
		w.showOneByOne()
		w.settle()
	})
}
