package model_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// TestAResultIsNotWrittenAgain: what a process does not know to be written, it looks for. A slice that it did not know of
// would never be among the oldest, and the next one would be numbered as if it came first.
func TestAResultIsNotWrittenAgain(t *testing.T) {
	for name, happens := range map[string]func(*world){
		"by the next controller": func(w *world) {
			w.serveUntil("modify pod")
			w.kill(w.processes[0], func(*request) bool { return false })
			w.start(0, 0)
		},
		"after a lost answer": func(w *world) {
			w.serveUntil("create slice")
			w.serve(w.requests.list()[0], lost)
		},
		"after a write that came to nothing": func(w *world) {
			w.serveUntil("create slice")
			w.serve(w.requests.list()[0], timeout)
		},
	} {
		t.Run(name, func(t *testing.T) {
			why := play(t, func(w *world) {
				w.createJob(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: jobName}, Spec: batchv1.JobSpec{
					Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
						RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}})
				w.start(0, 0)
				w.rest()
				first := w.server.pods.names()[0]
				w.run(w.server.pods.objects[first])
				w.exit(w.server.pods.objects[first], 1)
				w.inform()
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
func (w *world) serveUntil(verb string) {
	for range patience {
		waiting := w.requests.list()
		switch {
		case len(waiting) == 0:
			w.inform()
			w.pass(time.Second)
		case waiting[0].verb == verb:
			return
		default:
			w.serve(waiting[0], noFault)
		}
	}
	w.fail("nobody wants to %s", verb)
}

// expectResultsOnce expects n results, numbered one after the other.
func (w *world) expectResultsOnce(n int) {
	written := map[int64]bool{}
	w.server.slices.each(func(s *stintv1.ResultSlice) {
		for i, r := range s.Results {
			if at := s.Before + int64(i); at >= int64(n) || written[at] {
				w.fail("result %d of %d is of pod %s", at, n, r.Pod)
			}
			written[s.Before+int64(i)] = true
		}
	})
	if len(written) != n {
		w.fail("%d results, want %d", len(written), n)
	}
}
