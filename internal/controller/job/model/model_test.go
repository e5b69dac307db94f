// Package model_test drives the real Job controller through random histories on a simulated API server.
//
// The server (test/simulated) has versions, preconditions, finalizers and graceful deletion as a real one does. It
// answers a request, and its informers receive a change, only when the test wants it. So a history has everything that can
// go wrong between a controller and its server: writes that are refused, that succeed without an answer, or that come in
// another order; changes that are cached late, received again, or several as one; a controller that is killed between two
// writes, or two controllers at a time. The clock is synctest's.
//
// Three lists of invariants must hold at each write (status_, pod_ and creation_invariants_test.go); end_test.go says what
// must hold at the end. They follow the documentation of the API (oracle_test.go), not the code.
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
		w.terminatedLimit = max(0, rapid.IntRange(-2, 3).Draw(r, "terminated pods limit"))
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
		w.Deliver(p.jobs, p.jobs.Behind(), false)
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
		// The lists are older than the adoption, the count and the removal of the finalizer.
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
		w.Stop(w.Processes[0])
		first := w.podNames()[0]
		w.start(0, 1) // Its list lacks the pod, so it creates another.
		w.run(w.pod(first))
		w.exit(w.pod(first), 1)
		w.RunUntilIdle()
		w.Stop(w.Processes[0])
		// Its list has the first pod only. After the relist, its handlers get that pod without its finalizer before the other.
		w.start(0, 2)
		w.process(0).pods.Relist()
		w.RunUntilIdle()
		if w.process(0).deeds.created > 0 {
			w.Fail("index 0 gets another pod")
		}
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}
