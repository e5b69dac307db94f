package model_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/test/simulated"
)

// The Job fails for the same reason as a pod that does not start: PendingTimeout.
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

// The controller cannot know what happens while its request is in progress.
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
