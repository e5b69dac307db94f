package model_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/test/simulated"
)

// Its end is told by the same reason as that of a pod which does not start.
func TestAJobOfWhichNoPodCanBeCreatedFails(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(aJob().Annotation(pendingTimeoutSeconds, "1").Obj())
		w.start(0, 0)
		for range 2 {
			w.serveUntil("create pod")
			w.Serve(w.Waiting()[0], simulated.Quota)
		}
		w.settle()
		if j := w.job(jobName); !holds(j, batchv1.JobFailed) {
			w.Fail("the Job has not failed")
		}
	})
	if why != nil {
		t.Fatal(why)
	}
}

// TestAPodIsFailedThoughAUserDeletesItsJobAtOnce: nobody can know of what happens while a request is under way.
func TestAPodIsFailedThoughAUserDeletesItsJobAtOnce(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(aJob().Annotation(pendingTimeoutSeconds, "1").Obj())
		w.start(0, 0)
		w.serveUntil("update status of pod")
		w.deleteJob(jobName, metav1.DeletePropagationBackground)
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}
