package model_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

// The controller cannot know what happens while its request is in progress.
func TestAFailedPodGoesThoughAUserDeletesANewerOneAtOnce(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(aJob().Annotation(failedPodsLimit, "1").Completions(2).Parallelism(2).BackoffLimit(0).Obj())
		w.start(0, 0)
		w.RunUntilIdle()
		for _, name := range w.podNames() {
			w.run(w.pod(name))
			w.exit(w.pod(name), 1)
		}
		w.serveUntil("delete pod")
		going := w.Waiting()[0].Name
		for _, name := range w.podNames() {
			if name != going {
				w.deletePod(w.pod(name), 0)
			}
		}
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}

// failingJob returns a Job that fails with its first pod.
func failingJob() *wrappers.JobWrapper { return aJob().BackoffLimit(0) }

func (w *world) failOnlyPod() {
	name := w.podNames()[0]
	w.run(w.pod(name))
	w.exit(w.pod(name), 1)
}

func TestFailedPodsThatAreShownBeforeTheirJobAreNotForgotten(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(failingJob().Obj())
		w.start(0, 0)
		w.RunUntilIdle()
		w.failOnlyPod()
		w.RunUntilIdle()
		w.Stop(w.Processes[0])
		_ = w.updateJob(jobName, func(j *batchv1.Job) { j.Annotations = map[string]string{failedPodsLimit: "0"} })
		w.start(0, 0) // The handlers of the second process get the pods first.
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}

func TestAFailedPodThatIsShownAfterTheEndOfItsJobGoes(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(failingJob().Annotation(failedPodsLimit, "0").Obj())
		w.start(0, 0)
		w.RunUntilIdle()
		w.failOnlyPod()
		p := w.process(0)
		w.Deliver(p.pods, p.pods.Behind(), false)
		for range 5 {
			w.Work()
			w.Deliver(p.jobs, p.jobs.Behind(), false)
			w.Pass(time.Second)
		}
		if !finished(w.job(jobName)) {
			w.Fail("the Job goes on")
		}
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}

func TestAFailedPodThatIsCachedBeforeItsJobGoes(t *testing.T) {
	mustPlay(t, func(w *world) {
		w.begin(aJob().Annotation(failedPodsLimit, "0"))
		w.failOnlyPod()
		w.serveUntil("delete pod")
		w.Kill(w.Processes[0], func(*simulated.Request) bool { return false })
		// The first lists of the next controller lack the pods and the Job. The first version of the Job has no failure.
		w.start(w.jobs.Since(0), w.pods.Since(0))
		p := w.process(0)
		p.jobs.Deliver(p.jobs.Behind())
		w.Deliver(p.pods, p.pods.Behind(), false)
		w.settle()
	})
}
