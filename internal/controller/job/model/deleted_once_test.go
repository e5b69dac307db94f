package model_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

func TestPodsAreDeletedOnceThoughTheInformerIsLate(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(aJob().Parallelism(2).Completions(2).Obj())
		w.start(0, 0)
		w.RunUntilIdle()
		for _, name := range w.podNames() {
			w.run(w.pod(name))
		}
		w.RunUntilIdle()
		p := w.process(0)
		_ = w.updateJob(jobName, func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) })
		w.Deliver(p.jobs, p.jobs.Behind(), false)
		w.Pass(time.Second)
		w.Work()
		_ = w.updateJob(jobName, func(j *batchv1.Job) { j.Labels = map[string]string{"another": "look"} })
		w.Deliver(p.jobs, p.jobs.Behind(), false)
		w.Pass(time.Second)
		w.Work()
		deletions := 0
		for _, e := range p.Events() {
			if e.Reason == "SuccessfulDelete" {
				deletions++
			}
		}
		if deletions != 2 {
			w.Fail("2 pods are deleted %d times", deletions)
		}
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}
