package model_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

// This file plays bugs that other Job controllers have had; docs/jobs.md lists them.

// mustPlay plays a history and fails the test if it fails.
func mustPlay(t *testing.T, happens func(*world)) {
	t.Helper()
	if why := play(t, happens); why != nil {
		t.Fatal(why)
	}
}

// open creates a Job and starts a controller.
func (w *world) open(job *wrappers.JobWrapper) {
	w.createJob(job.Obj())
	w.start(0, 0)
}

// begin opens a Job and lets the controller create its first pods.
func (w *world) begin(job *wrappers.JobWrapper) {
	w.open(job)
	w.catchUp()
}

// catchUp lets the controller do all that it does within a few seconds: a status write may be delayed by one.
func (w *world) catchUp() {
	for range 4 {
		w.RunUntilIdle()
		w.Pass(time.Second)
	}
	w.RunUntilIdle()
}

// exitWith starts the active pods and terminates the first of them with these exit codes.
func (w *world) exitWith(codes ...int32) {
	for i, p := range w.activePods() {
		w.run(p)
		if i < len(codes) {
			w.exit(w.pod(p.Name), codes[i])
		}
	}
}

func (w *world) theJob() *batchv1.Job { return w.job(jobName) }

// touch changes a label of the Job: the controller has to sync again, and a status write in progress has a conflict.
func (w *world) touch() {
	_ = w.updateJob(jobName, func(j *batchv1.Job) {
		j.Labels = map[string]string{"touched": time.Now().UTC().Format("150405.000"), "at": j.ResourceVersion}
	})
}

// atEveryStep plays a history once for each request that the controller sends in it: step serves one more request in each
// history. The last history is the one that has no request left at that step.
func atEveryStep(t *testing.T, happens func(w *world, step func() bool)) {
	t.Helper()
	const enough = 200
	for before := 0; ; before++ {
		over := false
		mustPlay(t, func(w *world) {
			happens(w, func() bool {
				over = !w.serveSome(before)
				return over
			})
		})
		if over {
			return
		}
		if before > enough {
			t.Fatalf("the history has not come to rest after %d requests", before)
		}
	}
}

// serveSome serves n requests and shows all changes. It reports whether there were that many requests.
func (w *world) serveSome(n int) bool {
	idle := 0
	for n > 0 {
		w.Inform()
		waiting := w.Waiting()
		if len(waiting) == 0 {
			if idle++; idle > 5 {
				return false
			}
			w.Pass(time.Second) // A status write may be delayed.
			continue
		}
		w.Serve(waiting[0], simulated.NoFault)
		n, idle = n-1, 0
	}
	return true
}

// kubernetes/kubernetes#105200: the Job was shown with its pod counted, the pod still with its finalizer.
func TestAPodIsCountedOnceThoughItsJobIsShownFirst(t *testing.T) {
	for name, relieve := range map[string]func(*world){
		"by the same controller": func(*world) {},
		"by the next one": func(w *world) {
			w.Stop(w.Processes[0])
			w.Work()
			w.start(0, 2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			mustPlay(t, func(w *world) {
				w.begin(aJob().Completions(2))
				w.exitWith(0)
				p := w.process(0)
				w.Deliver(p.pods, p.pods.Behind(), false)
				for range 3 {
					w.Work()
					w.Pass(time.Second)
				}
				relieve(w)
				for range 5 {
					w.touch()
					p := w.process(0)
					w.Deliver(p.jobs, p.jobs.Behind(), false)
					w.Work()
					w.Pass(time.Second)
				}
				if n := w.theJob().Status.Succeeded; n != 1 {
					w.Fail("%d pods have succeeded, want 1", n)
				}
				w.settle()
			})
		})
	}
}

// kubernetes/kubernetes#105179: of a Job with two failures, four were counted.
func TestFailuresAreCountedOnceWhereverTheControllerDies(t *testing.T) {
	for name, comesToPass := range map[string]bool{"its last request is lost": false, "its last request comes to pass": true} {
		t.Run(name, func(t *testing.T) {
			atEveryStep(t, func(w *world, step func() bool) {
				w.begin(aJob().Completions(3).Parallelism(3))
				w.exitWith(1, 1)
				step()
				w.Kill(w.Processes[0], func(*simulated.Request) bool { return comesToPass })
				w.start(0, 0)
				w.settle()
				if s := w.theJob().Status; s.Failed != 2 || s.Succeeded != 3 {
					w.Fail("%d pods have failed and %d succeeded, want 2 and 3", s.Failed, s.Succeeded)
				}
			})
		})
	}
}

// kubernetes/kubernetes#109429: a Job was deleted before the finalizers of its pods were removed, and they never were.
func TestNoPodOfADeletedJobKeepsItsFinalizer(t *testing.T) {
	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan} {
		for name, relieve := range map[string]func(*world){
			"seen by its controller": func(*world) {},
			"seen by the next controller": func(w *world) {
				w.Kill(w.Processes[0], func(*simulated.Request) bool { return false })
				w.collectGarbage() // No controller runs when the Job is removed.
				w.start(0, 0)
			},
		} {
			t.Run(string(how)+", "+name, func(t *testing.T) {
				for between := range 12 {
					atEveryStep(t, func(w *world, step func() bool) {
						w.open(aJob().Completions(4).Parallelism(4))
						step()
						w.exitWith(0, 1)
						w.serveSome(between)
						w.deleteJob(jobName, how)
						relieve(w)
						w.settle() // It fails if a pod keeps its finalizer.
					})
				}
			})
		}
	}
}

// kubernetes/kubernetes#125410: a pod that was listed as succeeded turned Failed and was listed again, and from then on the
// API server refused every status. The other way round is kubernetes/kubernetes#111646.
func TestAPodWhosePhaseTurnsIsCountedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		mode              batchv1.CompletionMode
		code              int32
		turned            corev1.PodPhase
		succeeded, failed int32
	}{
		"from Succeeded to Failed":              {batchv1.NonIndexedCompletion, 0, corev1.PodFailed, 1, 0},
		"of an index, from Succeeded to Failed": {batchv1.IndexedCompletion, 0, corev1.PodFailed, 1, 0},
		"from Failed to Succeeded":              {batchv1.NonIndexedCompletion, 1, corev1.PodSucceeded, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			mustPlay(t, func(w *world) {
				w.begin(aJob().CompletionMode(c.mode).Completions(1))
				w.exitWith(c.code)
				w.Inform()
				w.Pass(time.Second)
				w.serveUntil("modify pod")
				first := w.pod(w.podNames()[0])
				w.pods.Change(first, func(p *corev1.Pod) { p.Status.Phase = c.turned })
				for range 3 { // The finalizer is not removed before the controller has seen the new phase.
					w.Inform()
					w.serveUntil("modify pod")
					w.Serve(w.Waiting()[0], simulated.Refused)
				}
				w.settle()
				if s := w.theJob().Status; s.Succeeded != c.succeeded || s.Failed != c.failed {
					w.Fail("%d pods have succeeded and %d failed, want %d and %d", s.Succeeded, s.Failed, c.succeeded, c.failed)
				}
			})
		})
	}
}
