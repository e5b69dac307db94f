package model_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/test/wrappers"
)

// The simulated clock shows both that a pod is not replaced too early and that it is not replaced too late. With a real
// clock, a slow machine would always be late.
func TestAFailedPodIsReplacedWhenItsDelayIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		job *wrappers.JobWrapper
		// seconds are the delays after each of several failures.
		seconds []int
	}{
		"doubling up to ten minutes":     {aJob(), []int{10, 20, 40, 80, 160, 320, 600, 600}},
		"as asked for":                   {aJob().Annotation(backoffSeconds, "3"), []int{3, 6, 12, 24, 48, 96, 192, 384, 600, 600}},
		"not at all":                     {aJob().Annotation(backoffSeconds, "0"), []int{0, 0, 0}},
		"no longer than asked for":       {aJob().Annotation(maxBackoffSeconds, "30"), []int{10, 20, 30, 30}},
		"longer than by itself":          {aJob().Annotation(backoffSeconds, "1800").Annotation(maxBackoffSeconds, "7200"), []int{1800, 3600, 7200, 7200}},
		"of an index, doubling likewise": {aJob().Indexed().BackoffLimitPerIndex(20), []int{10, 20, 40, 80, 160, 320, 600, 600}},
	} {
		t.Run(name, func(t *testing.T) {
			why := play(t, func(w *world) {
				w.createJob(c.job.Completions(1).BackoffLimit(20).Obj())
				w.start(0, 0)
				w.RunUntilIdle()
				for _, seconds := range c.seconds {
					w.failActivePod()
					w.expectPodAfter(time.Duration(seconds) * time.Second)
				}
			})
			if why != nil {
				t.Fatal(why)
			}
		})
	}
}

// The API stores whole seconds, so that only a controller that watches knows what came first in the second of a success.
func TestARetryInTheSecondOfASuccessIsDelayed(t *testing.T) {
	mustPlay(t, func(w *world) {
		w.begin(aJob().Completions(3).Parallelism(2).BackoffLimit(20))
		w.exitWith(1)
		w.catchUp()
		w.exitWith(0)
		w.passServing(5 * moment)
		w.expectActive(2, "after a success")
		w.exitWith(1)
		w.passServing(5 * moment)
		w.expectActive(1, "after a failure in the second of the success")
		w.exitWith(0)
		w.passServing(5 * moment)
		w.expectActive(1, "when another success has followed in that second")
	})
}

func (w *world) expectActive(want int, when string) {
	if n := len(w.activePods()); n != want {
		w.Fail("%d pods are active %s, want %d", n, when, want)
	}
}

func (w *world) activePods() (list []*corev1.Pod) {
	for _, p := range w.pods.All() {
		if active(p) {
			list = append(list, p)
		}
	}
	return list
}

func (w *world) failActivePod() {
	p := w.activePods()[0]
	w.run(p)
	w.exit(w.pod(p.Name), 1)
}

// moment is the time between two rounds of requests.
const moment = time.Millisecond

// passServing lets time pass while the server answers all requests.
func (w *world) passServing(d time.Duration) {
	for range d / moment {
		w.RunUntilIdle()
		w.Pass(moment)
	}
	w.RunUntilIdle()
}

// expectPodAfter expects an active pod once the delay is over, and none before.
func (w *world) expectPodAfter(delay time.Duration) {
	const counting, answers = 2 * time.Second, 5 * moment
	if delay > 0 {
		w.passServing(counting) // After that, nothing is left to do until the delay is over.
		w.Pass(delay - counting - moment)
		w.RunUntilIdle()
		if n := len(w.activePods()); n != 0 {
			w.Fail("%d pods before the delay of %s is over", n, delay)
		}
		w.Pass(moment)
	}
	w.passServing(answers)
	if n := len(w.activePods()); n != 1 {
		w.Fail("%d pods after the delay of %s", n, delay)
	}
	w.passServing(time.Second - answers + counting) // So that the next pod ends at a full second.
}
