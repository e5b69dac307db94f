package model_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestAJobThatHasTheNameOfARunIsNotTakenForIt(t *testing.T) {
	broken := simulated.Run(t, func(sw *simulated.World) {
		w := newWorld(sw)
		w.create(aCronJob("* * * * *").Obj())
		due := time.Now().Truncate(time.Minute).Add(time.Minute)
		taken := fmt.Sprintf("%s-%d", name, due.Unix()/60)
		if _, err := w.jobs.Create(wrappers.MakeJob(taken).Namespace(namespace).Obj()); err != nil {
			w.Fail("creating the Job: %v", err)
		}
		w.start()
		w.RunUntilIdle()
		w.Pass(time.Until(due) + time.Millisecond)
		w.RunUntilIdle()
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
