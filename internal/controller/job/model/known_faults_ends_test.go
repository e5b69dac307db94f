package model_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

// kubernetes/kubernetes#139428: while a replacement waited for its backoff, the status had no active pod and one ready
// pod. The API server refused it, so no pod was counted.
func TestAJobIsCountedWhileAReplacementWaits(t *testing.T) {
	for name, job := range map[string]*wrappers.JobWrapper{
		"the delay of the Job":    aJob(),
		"the delay of each index": aJob().Indexed().BackoffLimitPerIndex(3),
	} {
		t.Run(name, func(t *testing.T) {
			mustPlay(t, func(w *world) {
				w.begin(job.Completions(3).Parallelism(3))
				w.exitWith(1)
				w.catchUp()
				s := w.theJob().Status
				if s.Active != 2 || *s.Ready != 2 {
					w.Fail("%d pods are active and %d ready, want 2", s.Active, *s.Ready)
				}
				// The failure of an index is counted when its replacement is created.
				if perIndex := w.theJob().Spec.BackoffLimitPerIndex != nil; !perIndex && s.Failed != 1 {
					w.Fail("%d pods have failed, want 1", s.Failed)
				}
				w.settle()
			})
		})
	}
}

// kubernetes/kubernetes#114650: a controller that was restarted forgot how often the pods had failed.
func TestABackOffOutlivesTheController(t *testing.T) {
	for name, comesToPass := range map[string]bool{"its last requests are lost": false, "its last requests come to pass": true} {
		t.Run(name, func(t *testing.T) {
			mustPlay(t, func(w *world) {
				w.begin(aJob().BackoffLimit(20))
				for _, seconds := range []time.Duration{10, 20, 40, 80} {
					w.failActivePod()
					w.Kill(w.Processes[0], func(*simulated.Request) bool { return comesToPass })
					w.start(0, 0)
					w.expectPodAfter(seconds * time.Second)
				}
			})
		})
	}
}

// removeTerminated deletes all terminated pods, as a pod garbage collector with a threshold of 0 does.
func (w *world) removeTerminated() {
	for _, p := range w.pods.All() {
		if ended(p) {
			w.deletePod(p, 0)
		}
	}
}

// kubernetes/kubernetes#62382: each status that was stored made the controller forget the failures before it, and the
// retries never ended.
func TestTheBackoffLimitEndsTheRetries(t *testing.T) {
	mustPlay(t, func(w *world) { w.retryInVain(1, w.touch) })
}

// kubernetes/kubernetes#111608: failed pods were removed before they were counted, and the retries never ended.
func TestTheBackoffLimitHoldsThoughFailedPodsAreRemoved(t *testing.T) {
	mustPlay(t, func(w *world) { w.retryInVain(6, w.removeTerminated) })
}

// retryInVain lets every pod of a Job fail, and expects limit+1 pods.
func (w *world) retryInVain(limit int32, afterEach func()) {
	w.begin(aJob().BackoffLimit(limit))
	for n := range limit + 1 {
		if len(w.activePods()) != 1 {
			w.Fail("%d active pods after %d failures", len(w.activePods()), n)
		}
		w.failActivePod()
		afterEach()
		w.catchUp()
		w.Pass(11 * time.Minute)
		w.catchUp()
	}
	w.settle()
	if n := w.process(0).deeds.created; n != int(limit)+1 || reason(w.theJob(), batchv1.JobFailed) != batchv1.JobReasonBackoffLimitExceeded {
		w.Fail("%d pods with a backoffLimit of %d", n, limit)
	}
}

// kubernetes/kubernetes#28486: the status counted only the pods that existed. It counted fewer with each pod that was
// removed, and the Job never completed.
func TestAJobCompletesThoughItsPodsAreRemoved(t *testing.T) {
	for name, mode := range map[string]batchv1.CompletionMode{"NonIndexed": batchv1.NonIndexedCompletion, "Indexed": batchv1.IndexedCompletion} {
		t.Run(name, func(t *testing.T) {
			mustPlay(t, func(w *world) {
				w.begin(aJob().Completions(5).Parallelism(2).CompletionMode(mode))
				for range 5 {
					w.exitWith(0)
					w.removeTerminated()
					w.catchUp()
				}
				w.settle()
				if n := w.process(0).deeds.created; n != 5 || w.theJob().Status.Succeeded != 5 {
					w.Fail("%d pods for 5 completions, of which %d are counted", n, w.theJob().Status.Succeeded)
				}
			})
		})
	}
}

// kubernetes/kubernetes#115844: a terminating pod had a replacement before it had terminated. A Job can forbid that.
func TestAPodIsReplacedWhenThePolicySays(t *testing.T) {
	for policy, pods := range map[batchv1.PodReplacementPolicy]int{batchv1.TerminatingOrFailed: 2, batchv1.Failed: 1} {
		t.Run(string(policy), func(t *testing.T) {
			mustPlay(t, func(w *world) {
				w.begin(aJob().PodReplacementPolicy(policy))
				w.exitWith()
				w.catchUp()
				w.preempt(w.activePods()[0])
				w.catchUp()
				w.Pass(11 * time.Minute)
				w.catchUp()
				if s := w.theJob().Status; len(w.pods.All()) != pods || *s.Terminating != 1 {
					w.Fail("%d pods, want %d; %d terminating, want 1", len(w.pods.All()), pods, *s.Terminating)
				}
				w.settle()
			})
		})
	}
}

// kubernetes/kubernetes#134521: a Job that was resumed kept its old startTime, and the API server refused every status with
// the new one. Servers with that bug do not allow another startTime while a Job is not suspended.
func TestAJobIsResumedAtEveryStepOfItsSuspension(t *testing.T) {
	for between := range 12 {
		atEveryStep(t, func(w *world, step func() bool) {
			w.open(aJob().Completions(2).Parallelism(2))
			step()
			w.exitWith()
			w.suspend(true)
			w.serveSome(between)
			w.suspend(false)
			w.settle()
			var was *batchv1.Job
			for _, is := range w.ledger.accounts[w.theJob().UID].versions {
				if was != nil && was.Status.StartTime != nil && !suspended(is) && !was.Status.StartTime.Equal(is.Status.StartTime) {
					w.Fail("the start %s becomes %s", was.Status.StartTime, is.Status.StartTime)
				}
				was = is
			}
			if s := was.Status; s.StartTime == nil || s.Succeeded != 2 || s.Failed != 0 {
				w.Fail("the Job does not end as if nothing had been")
			}
		})
	}
}

func (w *world) suspend(on bool) {
	if j := w.theJob(); finished(j) || suspended(j) == on {
		return
	}
	w.Logf("user sets suspend to %t", on)
	_ = w.updateJob(jobName, func(j *batchv1.Job) { j.Spec.Suspend = &on })
}

// kubernetes/kubernetes#112873: the last status of a Job had a conflict, and the metrics counted its end twice.
func TestAnEndIsMeasuredOnceThoughItsStatusMeetsAConflict(t *testing.T) {
	atEveryStep(t, func(w *world, step func() bool) {
		w.begin(aJob().Completions(2).Parallelism(2))
		w.exitWith(0, 0)
		step()
		w.touch()
		w.settle()
		metrics := w.process(0).counters()
		ends, pods := metrics["job_controller_jobs_finished_total"], metrics["job_controller_job_pods_finished_total"]
		if ends != 1 || pods != 2 {
			w.Fail("%d ends and %d pods are measured, want 1 and 2", ends, pods)
		}
	})
}

// kubernetes/kubernetes#129795: a controller created its own pods again when they were not cached for minutes.
func TestNoMorePodsAreMadeHoweverLateTheInformerIs(t *testing.T) {
	mustPlay(t, func(w *world) {
		w.begin(aJob().Completions(5).Parallelism(3))
		w.exitWith()
		_ = w.updateJob(jobName, func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](5) })
		p := w.process(0)
		for range 30 {
			w.Deliver(p.jobs, p.jobs.Behind(), false)
			w.Work()
			w.Pass(time.Minute)
			w.touch()
		}
		if n := p.deeds.created; n != 5 {
			w.Fail("%d pods are made, want 5", n)
		}
		w.settle()
	})
}

// kubernetes/kubernetes#110464: a pod that had succeeded was deleted with the others, as the Job failed at the same moment.
func TestASuccessStaysThoughTheJobFailsAtTheSameMoment(t *testing.T) {
	for name, codes := range map[string][]int32{"the failure first": {1, 0}, "the success first": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			mustPlay(t, func(w *world) {
				w.begin(aJob().Completions(3).Parallelism(3).BackoffLimit(0))
				w.exitWith(codes...)
				w.catchUp()
				for _, p := range w.pods.All() {
					if p.Status.Phase == corev1.PodSucceeded && p.DeletionTimestamp != nil {
						w.Fail("pod %s is deleted and has succeeded", p.Name)
					}
				}
				w.settle()
				if s := w.theJob().Status; s.Succeeded != 1 || s.Failed != 2 || reason(w.theJob(), batchv1.JobFailed) == "" {
					w.Fail("%d pods have succeeded and %d failed, want 1 and 2", s.Succeeded, s.Failed)
				}
			})
		})
	}
}
