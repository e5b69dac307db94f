// Package model_test drives the real ScheduledJob controller, with its core, through random histories on a simulated API
// server (test/simulated): requests are refused, lost, or carried out without an answer; watches are late, repeat changes or
// skip to the newest state, each kind on its own; the controller is killed between any two writes, or replaced by another;
// users request runs, suspend and resume the ScheduledJob, and delete Jobs. The clock is that of synctest.
//
//	go test ./internal/controller/scheduledjob/model                      a few hundred histories, always the same ones
//	go test ./internal/controller/scheduledjob/model -rapid.checks=25000  many histories
//	go test ./internal/controller/scheduledjob/model -rapid.seed=N        the history that failed, again
package model_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/simulated"
)

func TestMain(m *testing.M) { simulated.Main(m, 400) }

func TestAnyHistory(t *testing.T) {
	simulated.Check(t, func(sw *simulated.World, r *rapid.T) {
		w := newWorld(sw)
		w.create(drawScheduledJob(r))
		w.start()
		r.Repeat(w.actions())
		w.finishAll()
	})
}

func TestACreationWhoseAnswerIsLostMakesNoRunBesideIt(t *testing.T) {
	for what, statusFails := range map[string]bool{"the status lists it": false, "the status cannot be written": true} {
		t.Run(what, func(t *testing.T) {
			why := simulated.Run(t, func(sw *simulated.World) {
				w := newWorld(sw)
				w.create(scheduledJob("R//PT10S", spec{}))
				w.start()
				w.serveUntil("create")
				// The next due time comes before the answer would. The informer does not show the Job.
				w.Pass(10 * time.Second)
				w.Serve(w.Waiting()[0], simulated.Lost)
				if statusFails {
					w.serveUntil("update status of")
					w.Serve(w.Waiting()[0], simulated.Refused)
				}
				w.serveUntil("nothing")
				w.Pass(time.Second)
				w.serveUntil("nothing")
				w.finishAll()
			})
			if why != nil {
				t.Fatal(why)
			}
		})
	}
}

func TestARunWhoseJobIsDeletedIsNotMadeAgainWhereTheStatusMayTellOfIt(t *testing.T) {
	why := simulated.Run(t, func(sw *simulated.World) {
		w := newWorld(sw)
		w.create(scheduledJob("R1//PT10S", spec{}))
		w.start()
		w.serveUntil("update status of")
		w.Pass(10 * time.Second) // The informer does not show the Job meanwhile.
		w.Serve(w.Waiting()[0], simulated.Lost)
		job := w.jobs.All()[0]
		if err := w.jobs.Delete(namespace, job.Name, job.UID, client.DeleteOptions{}); err != nil {
			w.Fail("deleting the Job: %v", err)
		}
		w.Pass(time.Second)
		w.serveUntil("nothing")
		w.finishAll()
	})
	if why != nil {
		t.Fatal(why)
	}
}

func TestAnEndThatIsKnownIsNotForgottenWhenTheInformerShowsTheBeginning(t *testing.T) {
	why := simulated.Run(t, func(sw *simulated.World) {
		w := newWorld(sw)
		w.create(scheduledJob("R1//PT10S", spec{successful: 1}))
		w.start()
		scheduledJobs, jobs := w.Processes[0].Feeds()[0], w.Processes[0].Feeds()[1]
		w.serveUntil("nothing")
		w.end(w.jobs.All()[0], 0)
		w.Pass(time.Minute)
		w.setSuspend(true) // Triggers a sync, which gets the Job live, as it is not cached.
		scheduledJobs.Deliver(scheduledJobs.Behind())
		scheduledJobs.Notify(scheduledJobs.Undelivered())
		for range 5 {
			w.Pass(time.Second)
			w.serveUntil("nothing")
		}
		if s := w.sj().Status; s.ScheduleCount != 1 || len(s.RunningExecutions) > 0 {
			w.Fail("the end of the run has not been noticed")
		}
		jobs.Deliver(1)
		jobs.Notify(1)
		w.Pause()
		w.serveUntil("nothing")
		w.finishAll()
	})
	if why != nil {
		t.Fatal(why)
	}
}

func TestAJobThatThePreviousControllerWasCreatingIsFound(t *testing.T) {
	why := simulated.Run(t, func(sw *simulated.World) {
		w := newWorld(sw)
		w.create(scheduledJob("R1//PT10S", spec{successful: 1, complete: 1}))
		w.start()
		w.serveUntil("create")
		before := w.Processes[0]
		w.start()
		w.Serve(w.Waiting()[1], simulated.NoFault) // The new process gets the ScheduledJob, and decides to create the same Job.
		w.Kill(before, func(*simulated.Request) bool { return true })
		w.serveUntil("nothing")
		w.finishAll()
	})
	if why != nil {
		t.Fatal(why)
	}
}
