package model_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/test/simulated"
)

func TestAJobThatHasTheNameOfARunIsNotTakenForIt(t *testing.T) {
	broken := simulated.Play(t, func(sw *simulated.World) {
		w := newWorld(sw)
		w.create(&batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: batchv1.CronJobSpec{
			Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: jobSpec()}}})
		due := time.Now().Truncate(time.Minute).Add(time.Minute)
		taken := fmt.Sprintf("%s-%d", name, due.Unix()/60)
		if _, err := w.jobs.Create(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: taken}, Spec: jobSpec()}); err != nil {
			w.Fail("creating the Job: %v", err)
		}
		w.start()
		w.Rest()
		w.Pass(time.Until(due) + time.Millisecond)
		w.Rest()
		if active := w.cj().Status.Active; len(active) > 0 {
			w.Fail("%s is listed as active", active[0].Name)
		}
		for _, e := range w.Processes[0].Events() {
			if e.Reason == "FailedCreate" {
				return
			}
		}
		w.Fail("the run does not start, and no event says why")
	})
	if broken != nil {
		t.Errorf("%v", broken)
	}
}
