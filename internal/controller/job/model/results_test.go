package model_test

import (
	"testing"
	"time"

	"github.com/stint-dev/stint/test/simulated"
)

// TestAResultIsNotWrittenAgain: what a process does not know to be written, it looks for. A slice that it did not know of
// would never be among the oldest, and the next one would be numbered as if it came first.
func TestAResultIsNotWrittenAgain(t *testing.T) {
	for name, happens := range map[string]func(*world){
		"by the next controller": func(w *world) {
			w.serveUntil("modify pod")
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
				w.Rest()
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

// serveUntil brings news and serves requests until the next is such a one.
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

// expectResultsOnce expects n results, numbered one after the other.
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
