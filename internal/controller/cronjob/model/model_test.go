// Package model_test drives the real CronJob controller, with its core, through random histories on a simulated API
// server (test/simulated): requests are refused, lost, or carried out without an answer; watches are late, repeat changes or
// skip to the newest state, each kind on its own; the controller is killed between any two writes, or replaced by another;
// users create runs, suspend the CronJob, and delete Jobs. The clock is that of synctest. The server never holds a run when it
// is created, like the API server of a cluster.
//
//	go test ./internal/controller/cronjob/model                      some histories, always the same ones
//	go test ./internal/controller/cronjob/model -rapid.checks=25000  many histories
//	go test ./internal/controller/cronjob/model -rapid.seed=N        the history that failed, again
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
		w.create(drawCronJob(r))
		w.start()
		r.Repeat(w.actions())
		w.finishAll()
	})
}

func TestARunDoesNotStartAgainWhenTheStatusWriteHasNoAnswer(t *testing.T) {
	broken := simulated.Run(t, func(sw *simulated.World) {
		w := newWorld(sw)
		w.create(aCronJob("@every 3s").Obj())
		w.start()
		w.Inform()
		w.Pass(3001 * time.Millisecond)
		w.serve("get", simulated.NoFault)
		w.serve("create", simulated.NoFault)
		job := w.jobs.All()[0]
		if err := w.jobs.Delete(namespace, job.Name, job.UID, client.DeleteOptions{}); err != nil {
			w.Fail("deleting the Job: %v", err)
		}
		w.serve("update status of", simulated.Lost)
		w.Pass(time.Second)
		for len(w.Waiting()) > 0 {
			w.Serve(w.Waiting()[0], simulated.NoFault)
			w.Pause()
		}
		w.finishAll()
	})
	if broken != nil {
		t.Errorf("%v", broken)
	}
}

// serve serves the one waiting request, which must have this verb.
func (w *world) serve(verb string, f simulated.Fault) {
	w.Pause()
	waiting := w.Waiting()
	if len(waiting) != 1 || waiting[0].Verb != verb {
		w.Fail("%v wait, not one to %s", waiting, verb)
	}
	w.Serve(waiting[0], f)
}
