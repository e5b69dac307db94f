// Package model_test drives the real CronJob controller, with its core, through random histories on a simulated API
// server (test/simulated): requests that are refused, lost, or carried out without an answer; news that are
// late, repeated or compressed, of each kind apart; the controller killed between any two writes, or relieved by another;
// people who run, suspend, and delete. The clock is synctest's. The server holds no runs: it is a cluster's.
//
//	go test ./internal/controller/cronjob/model                      some histories, always the same
//	go test ./internal/controller/cronjob/model -rapid.checks=25000  many
//	go test ./internal/controller/cronjob/model -rapid.seed=N        those that failed, again
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
		w.settle()
	})
}

func TestARunDoesNotStartAgainWhereTheAnswerIsLostThatItIsKnown(t *testing.T) {
	broken := simulated.Play(t, func(sw *simulated.World) {
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
		w.settle()
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
