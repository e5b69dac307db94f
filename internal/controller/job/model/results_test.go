package model_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/simulated"
)

// A controller that cannot know whether a slice is stored lists the slices. Otherwise it would store results again, never
// delete that slice, and number the next one from 0.
func TestAResultIsNotWrittenAgain(t *testing.T) {
	for name, happens := range map[string]func(*world){
		"by the next controller": func(w *world) {
			w.serveUntil("modify pod")
			w.Kill(w.Processes[0], func(*simulated.Request) bool { return false })
			w.start(0, 0)
		},
		"by the next controller, whose status lists no terminated pod": func(w *world) {
			w.serveUntil("update status of job")
			w.Kill(w.Processes[0], func(*simulated.Request) bool { return false })
			w.start(0, 0)
		},
		"after a lost answer": func(w *world) {
			w.serveUntil("create resultslice")
			w.Serve(w.Waiting()[0], simulated.Lost)
		},
		"after a write that came to nothing": func(w *world) {
			w.serveUntil("create resultslice")
			w.Serve(w.Waiting()[0], simulated.Timeout)
		},
	} {
		t.Run(name, func(t *testing.T) {
			why := play(t, func(w *world) {
				w.createJob(aJob().Obj())
				w.start(0, 0)
				w.RunUntilIdle()
				first := w.podNames()[0]
				w.run(w.pod(first))
				w.exit(w.pod(first), 1)
				w.Inform()
				happens(w)
				w.settle()
				w.expectResultsOnce(2)
			})
			if why != nil {
				t.Fatal(why)
			}
		})
	}
}

// A terminating pod counts as failed before its containers terminate, so its result is stored twice: when it is counted,
// and when it has terminated.
func TestAPodThatIsCountedBeforeItTerminatesKeepsItsExitCode(t *testing.T) {
	mustPlay(t, func(w *world) {
		w.begin(aJob())
		w.exitWith()
		p := w.activePods()[0]
		w.deletePod(p, grace)
		w.catchUp()
		if r := w.resultOf(p); r == nil || r.ExitCode != nil || hasFinalizer(w.pod(p.Name)) {
			w.Fail("the terminating pod is not counted: its result is %+v", r)
		}
		w.exit(w.pod(p.Name), 143)
		w.catchUp()
		if r := w.resultOf(p); r.ExitCode == nil || *r.ExitCode != 143 {
			w.Fail("the pod exited with 143, and its result is %+v", r)
		}
		w.settle()
	})
}

// The next controller removes the finalizer of every pod that the status lists, and may be killed before the terminated pod
// is cached: then no later controller looks at the pod.
func TestAListedPodThatIsCachedAsRunningIsStoredAsTheServerHasIt(t *testing.T) {
	mustPlay(t, func(w *world) {
		w.begin(aJob())
		w.exitWith(0)
		p := w.pods.All()[0]
		w.serveUntil("create resultslice")
		if n := len(w.theJob().Status.UncountedTerminatedPods.Succeeded); n != 1 {
			w.Fail("%d pods are listed, want 1", n)
		}
		w.Kill(w.Processes[0], func(*simulated.Request) bool { return false })
		w.start(0, 1)
		if cached := w.process(0).pods.GetStore().List()[0].(*corev1.Pod); ended(cached) {
			w.Fail("the informer shows that the pod has terminated")
		}
		for hasFinalizer(w.pod(p.Name)) {
			w.Serve(w.Waiting()[0], simulated.NoFault)
		}
		w.Kill(w.Processes[0], func(*simulated.Request) bool { return false })
		w.settle()
		if r := w.resultOf(p); r == nil || r.Phase != corev1.PodSucceeded {
			w.Fail("the pod has succeeded, and its result is %+v", r)
		}
	})
}

// resultOf returns the stored result of p, or nil.
func (w *world) resultOf(p *corev1.Pod) *stintv1.PodResult {
	for _, s := range slices.Backward(w.slices.All()) {
		for i := range s.Results {
			if s.Results[i].UID == p.UID {
				return &s.Results[i]
			}
		}
	}
	return nil
}

// serveUntil shows changes and serves requests until the next request is what.
func (w *world) serveUntil(what string) {
	for range 400 {
		waiting := w.Waiting()
		switch {
		case len(waiting) == 0:
			w.Inform()
			w.Pass(time.Second)
		case waiting[0].What() == what:
			return
		default:
			w.Serve(waiting[0], simulated.NoFault)
		}
	}
	w.Fail("no controller wants to %s", what)
}

// expectResultsOnce expects n results, numbered from 0 without gaps.
func (w *world) expectResultsOnce(n int) {
	written := map[int64]bool{}
	for _, s := range w.slices.All() {
		for i, r := range s.Results {
			if at := s.Before + int64(i); at >= int64(n) || written[at] {
				w.Fail("result %d of %d is of pod %s", at, n, r.Pod)
			}
			written[s.Before+int64(i)] = true
		}
	}
	if len(written) != n {
		w.Fail("%d results, want %d", len(written), n)
	}
}
