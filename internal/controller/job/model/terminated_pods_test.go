package model_test

import (
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

// removesSuccess reports whether the write deletes a succeeded pod together with its finalizer.
func (x podWrite) removesSuccess() bool {
	return x.is == nil && x.was.DeletionTimestamp == nil && x.was.Status.Phase == corev1.PodSucceeded &&
		slices.Equal(x.was.Finalizers, []string{batchv1.JobTrackingFinalizer})
}

func (x podWrite) isSurplusSuccess() {
	j := x.job()
	if j == nil || !x.removesSuccess() {
		return
	}
	others := 0
	for uid, f := range x.fates {
		// Another client may have deleted it since the process decided, and a finalizer may stay if its removal fails.
		there := !f.gone || f.deletedBy != x.by && x.by.knowledge.mayExist(uid)
		if uid != x.was.UID && there && ended(f.last) {
			others++
		}
	}
	if x.world.terminatedLimit == 0 || others < x.world.terminatedLimit {
		x.Fail("succeeded pod %s is removed; the limit is %d, and %d others are there", x.was.Name, x.world.terminatedLimit, others)
	}
}

// terminated returns how many pods have terminated and exist.
func (w *world) terminated() (n int) {
	for _, p := range w.pods.All() {
		if ended(p) {
			n++
		}
	}
	return n
}

func TestSucceededPodsBeyondTheLimitAreDeletedInTheWriteThatRemovesTheirFinalizer(t *testing.T) {
	for name, job := range map[string]*wrappers.JobWrapper{"NonIndexed": aJob(), "Indexed": aJob().Indexed()} {
		t.Run(name, func(t *testing.T) {
			mustPlay(t, func(w *world) {
				w.terminatedLimit = 2
				writes := map[string]int{}
				w.begin(job.Completions(9).Parallelism(3))
				w.countRequests(writes)
				w.settle()
				if n := w.terminated(); n != 2 || w.theJob().Status.Succeeded != 9 {
					w.Fail("%d pods are left, want 2; %d are counted, want 9", n, w.theJob().Status.Succeeded)
				}
				if writes["modify pod"] != 2 || writes["delete pod"] != 7 {
					w.Fail("%d finalizers are removed and %d pods deleted, want 2 and 7", writes["modify pod"], writes["delete pod"])
				}
			})
		})
	}
}

// countRequests counts the requests from now on.
func (w *world) countRequests(n map[string]int) {
	before := w.Carrying
	w.Carrying = func(r *simulated.Request) {
		n[r.What()]++
		before(r)
	}
}

func TestFailedPodsStayWhateverTheLimit(t *testing.T) {
	mustPlay(t, func(w *world) {
		w.terminatedLimit = 1
		w.begin(aJob().Completions(4).Parallelism(4))
		w.exitWith(1, 1, 0, 0)
		w.settle()
		failed := 0
		for _, p := range w.pods.All() {
			if p.Status.Phase == corev1.PodFailed {
				failed++
			}
		}
		if failed != 2 || w.theJob().Status.Failed != 2 || w.theJob().Status.Succeeded != 4 {
			w.Fail("%d failed pods are left, want 2", failed)
		}
	})
}

// A pod that is deleted with its finalizer is counted by the status that lists it, whatever happens in between.
func TestAPodThatGoesWithItsFinalizerIsCountedOnceWhereverTheControllerDies(t *testing.T) {
	for mode, job := range map[string]func() *wrappers.JobWrapper{
		"NonIndexed": aJob,
		"Indexed":    func() *wrappers.JobWrapper { return aJob().Indexed() },
	} {
		for name, comesToPass := range map[string]bool{"its last request is lost": false, "its last request comes to pass": true} {
			for _, late := range []int{0, 3} {
				t.Run(mode+", "+name+", "+map[int]string{0: "the next is up to date", 3: "the next is late"}[late], func(t *testing.T) {
					atEveryStep(t, func(w *world, step func() bool) {
						w.terminatedLimit = 1
						w.begin(job().Completions(4).Parallelism(4))
						w.exitWith(0, 0, 0)
						step()
						w.Kill(w.Processes[0], func(*simulated.Request) bool { return comesToPass })
						w.start(0, late)
						w.settle()
						if s := w.theJob().Status; s.Succeeded != 4 || s.Failed != 0 {
							w.Fail("%d pods have succeeded and %d failed, want 4 and none", s.Succeeded, s.Failed)
						}
					})
				})
			}
		}
	}
}

func TestAPodThatIsGoneTakesNoRoom(t *testing.T) {
	mustPlay(t, func(w *world) {
		w.terminatedLimit = 1
		w.begin(aJob().Completions(2).Parallelism(1))
		w.exitWith(0)
		p := w.pod(w.podNames()[0])
		w.serveUntil("update status of job")
		w.pods.Change(p, func(p *corev1.Pod) { p.Finalizers = nil })
		w.deletePod(w.pod(p.Name), 0)
		// The informer shows that it is gone, and the controller then tries to remove its finalizer all the same.
		w.Deliver(w.process(0).pods, 2, false)
		w.settle()
		if n := w.terminated(); n != 1 {
			w.Fail("%d pods are left, want 1", n)
		}
	})
}

// The next decision sees the finalizer.
func TestAPodThatGetsAnotherFinalizerMeanwhileStays(t *testing.T) {
	mustPlay(t, func(w *world) {
		w.terminatedLimit = 1
		w.begin(aJob().Completions(3).Parallelism(2))
		w.exitWith(0, 0)
		w.serveUntil("delete pod")
		p := w.pod(w.Waiting()[0].Name)
		w.pods.Change(p, func(p *corev1.Pod) { p.Finalizers = append(p.Finalizers, "example.com/hold") })
		w.settle()
		if is := w.pod(p.Name); is == nil || hasFinalizer(is) || is.DeletionTimestamp != nil || w.theJob().Status.Succeeded != 3 {
			w.Fail("the pod is %+v", is)
		}
	})
}
