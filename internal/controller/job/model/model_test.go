// Package model_test drives the real Job controller through random histories on a simulated API server.
//
// The server (test/simulated) keeps versions, preconditions, finalizers and graceful deletion as a real one does, and
// answers a request only when the test lets it; informers tell only what the test lets them. So everything that can go
// wrong between a controller and its server can be made to: writes refused, carried out without an answer, out of
// order; news late, repeated, compressed; the controller killed between any two writes, or two of them at a time. The
// clock is synctest's.
//
// What must hold at each write is in three lists of invariants (status_, pod_ and creation_invariants_test.go), what
// must hold at the end in end_test.go. They know the API from its documentation (oracle_test.go), not from the code.
//
//	go test ./internal/controller/job/model                      a few hundred histories, others each time
//	go test ./internal/controller/job/model -rapid.checks=25000  many
//	go test ./internal/controller/job/model -rapid.seed=N        those that failed, again
package model_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/test/simulated"
)

func TestMain(m *testing.M) { simulated.Main(m, 300) }

func TestAnyHistory(t *testing.T) {
	simulated.Check(t, func(sw *simulated.World, r *rapid.T) {
		w := newWorld(sw)
		w.createJob(drawJob(r))
		w.start(0, 0)
		r.Repeat(w.actions())
		w.settle()
	})
}

func TestPodsThatCameAndWentWhileTheWatchWasBroken(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(aJob().Obj())
		w.start(0, 0)
		p := w.process(0)
		w.Work()
		_ = w.updateJob(jobName, func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) })
		w.Bring(p.jobs, p.jobs.Behind(), false)
		for n := 0; len(w.pods.All()) > 0; n++ {
			if n > 60 {
				w.Fail("the suspended Job keeps its pods")
			}
			w.Pass(time.Second)
			w.Work()
		}
		p.pods.Relist()
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}

func TestAnOrphanThatAFormerControllerCountedIsNotAdoptedAnew(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(aJob().ManualSelector("app", "j").Obj())
		orphan := w.newOrphan()
		w.run(orphan)
		w.exit(w.pod(orphan.Name), 1)
		w.start(0, 0)
		w.Work()
		w.Pass(time.Second)
		w.Work()
		w.Kill(w.Processes[0], func(*simulated.Request) bool { return false })
		// The lists are from before the orphan was adopted, counted and released.
		w.start(2, 2)
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}

func TestAPodOfAnIndexThatAListBringsTogetherWithTheEndOfTheOneBeforeIsNotMadeAgain(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(aJob().Indexed().Completions(1).BackoffLimitPerIndex(1).Obj())
		w.start(0, 0)
		w.Work()
		w.Leave(w.Processes[0])
		first := w.podNames()[0]
		w.start(0, 1) // It does not know the pod, and makes another.
		w.run(w.pod(first))
		w.exit(w.pod(first), 1)
		w.Rest()
		w.Leave(w.Processes[0])
		w.start(0, 2) // It knows the first pod only, until it hears that this was released: before it hears of the other.
		w.process(0).pods.Relist()
		w.Rest()
		if w.process(0).deeds.created > 0 {
			w.Fail("index 0 gets another pod")
		}
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}
