package ttl_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/ttl"
)

func TestJobsGoAfterTheirTime(t *testing.T) {
	w := plain(t)
	past := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		seconds *int32
		end     time.Time
		goes    bool
	}{
		"at-once":             {ptr.To[int32](0), time.Now(), true},
		"long-ago":            {ptr.To[int32](60), past, true},
		"not-yet":             {ptr.To[int32](3700), past, false},
		"for-decades":         {ptr.To[int32](math.MaxInt32), past, false},
		"no-time-to-live":     {nil, past, false},
		"ends-in-the-future":  {ptr.To[int32](0), time.Now().Add(time.Hour), false},
		"has-not-ended":       {ptr.To[int32](0), time.Time{}, false},
		"has-not-ended-ever":  {nil, time.Time{}, false},
		"ended-and-long-kept": {ptr.To[int32](7200), time.Now(), false},
	} {
		job := w.create(name, c.seconds)
		if !c.end.IsZero() {
			w.finish(job, c.end)
		}
		if c.goes {
			w.gone(name)
		} else {
			w.stays(name)
		}
	}
}

func TestAJobGoesNotBeforeItsTime(t *testing.T) {
	w := plain(t)
	job := w.create("second", ptr.To[int32](1))
	w.pod(job, "held", "example.com/hold")
	end := time.Now().Truncate(time.Second)
	w.finish(job, end)
	var deleted *batchv1.Job
	w.eventually("the Job is being deleted", func() bool {
		deleted = w.get("second")
		return deleted.DeletionTimestamp != nil
	})
	if deleted.DeletionTimestamp.Time.Before(end.Add(time.Second)) {
		t.Errorf("ended at %v, deleted at %v", end, deleted.DeletionTimestamp)
	}
}

func TestTheTimeToLiveMayChangeAfterTheEnd(t *testing.T) {
	w := plain(t)
	past := time.Now().Add(-time.Hour)
	set := w.finish(w.create("set", nil), past)
	w.stays("set")
	w.set(set, ptr.To[int32](10))
	w.gone("set")

	shortened := w.finish(w.create("shortened", ptr.To[int32](7200)), past)
	w.stays("shortened")
	w.set(shortened, ptr.To[int32](3600))
	w.gone("shortened")

	cleared := w.setBeforeDue("cleared", nil)
	extended := w.setBeforeDue("extended", ptr.To[int32](3600))
	due := w.finish(w.create("due", ptr.To[int32](1)), time.Now().Add(2*time.Second))
	w.gone(due.Name)
	w.stays(cleared)
	w.stays(extended)
}

// setBeforeDue makes a Job that is due soon, so that the alarm is set, and then changes its time to live. Where it came too
// late, it tries again with another.
func (w *world) setBeforeDue(name string, seconds *int32) string {
	w.Helper()
	for n := range 20 {
		name := fmt.Sprintf("%s-%d", name, n)
		end := time.Now().Add(time.Second).Truncate(time.Second)
		job := w.finish(w.create(name, ptr.To[int32](1)), end)
		_, err := w.Jobs().Modify(w.ctx, job, func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = seconds })
		switch {
		case time.Now().Before(end.Add(time.Second)) && err != nil:
			w.Fatal(err)
		case time.Now().Before(end.Add(time.Second)):
			return name
		}
	}
	w.Fatal("no time to change a Job within a second")
	return ""
}

func TestTheJobGoesAfterItsPods(t *testing.T) {
	w := plain(t)
	job := w.create("job", ptr.To[int32](0))
	w.pod(job, "free")
	held := w.pod(job, "held", "example.com/hold")
	w.finish(job, time.Now())
	w.eventually("the pod without a finalizer is gone", func() bool {
		_, err := w.Pods().Get(w.ctx, "default", "free")
		return apierrors.IsNotFound(err)
	})
	if job := w.get("job"); job == nil || job.DeletionTimestamp == nil {
		t.Fatalf("the Job does not wait for its pod: %v", job)
	}
	if _, err := w.Pods().Modify(w.ctx, held, func(p *corev1.Pod) { p.Finalizers = nil }); err != nil {
		t.Fatal(err)
	}
	w.gone("job")
}

// interposed are the real Jobs, with something that happens between the reading of one and what follows.
type interposed struct {
	client.Resource[*batchv1.Job]
	read func(*batchv1.Job)
}

func (i *interposed) Jobs() client.Resource[*batchv1.Job] { return i }

func (i *interposed) Get(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	job, err := i.Resource.Get(ctx, namespace, name)
	if err == nil {
		i.read(job)
	}
	return job, err
}

func TestWhatHappensBetweenTheDecisionAndTheDeletion(t *testing.T) {
	for sentence, c := range map[string]struct {
		happens func(w *world, job *batchv1.Job)
		check   func(w *world)
	}{
		"the time to live is taken away": {
			func(w *world, job *batchv1.Job) { w.set(job, nil) },
			func(w *world) { w.stays("job") },
		},
		"it is made longer": {
			func(w *world, job *batchv1.Job) { w.set(job, ptr.To[int32](3600)) },
			func(w *world) { w.stays("job") },
		},
		"something else changes": {
			func(w *world, job *batchv1.Job) {
				if _, err := w.Jobs().Modify(w.ctx, job, func(j *batchv1.Job) { j.Labels = map[string]string{"seen": "yes"} }); err != nil {
					w.Error(err)
				}
			},
			func(w *world) { w.gone("job") },
		},
		"another Job takes the name": {
			func(w *world, job *batchv1.Job) {
				if err := w.Jobs().Delete(w.ctx, job, client.DeleteOptions{Propagation: "Background"}); err != nil {
					w.Error(err)
				}
				w.create("job", ptr.To[int32](0))
			},
			func(w *world) { w.stays("job") },
		},
		"another Job that has ended takes the name": {
			func(w *world, job *batchv1.Job) {
				if err := w.Jobs().Delete(w.ctx, job, client.DeleteOptions{Propagation: "Background"}); err != nil {
					w.Error(err)
				}
				w.finish(w.create("job", ptr.To[int32](3600)), time.Now())
			},
			func(w *world) { w.stays("job") },
		},
		"somebody else deletes it": {
			func(w *world, job *batchv1.Job) {
				if err := w.Jobs().Delete(w.ctx, job, client.DeleteOptions{Propagation: "Background"}); err != nil {
					w.Error(err)
				}
			},
			func(w *world) { w.gone("job") },
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			happened := make(chan struct{})
			w := start(t, func(w *world) ttl.Client {
				var once sync.Once
				return &interposed{w.Jobs(), func(job *batchv1.Job) {
					if job.Name == "job" {
						once.Do(func() { c.happens(w, job); close(happened) })
					}
				}}
			})
			w.finish(w.create("job", ptr.To[int32](0)), time.Now())
			select {
			case <-happened:
			case <-time.After(deadline):
				t.Fatal("the Job was never looked at")
			}
			c.check(w)
		})
	}
}

func TestManyJobsExpireAtOnce(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 200 // The race detector makes much of them.
	}
	w := plain(t)
	end := time.Now().Add(time.Second)
	var making sync.WaitGroup
	for k := range 20 {
		making.Go(func() {
			for i := k; i < n; i += 20 {
				w.finish(w.create(fmt.Sprint("job-", i), ptr.To[int32](1)), end)
			}
		})
	}
	making.Wait()
	kept := w.finish(w.create("kept", ptr.To[int32](3600)), end)
	w.eventually("all are gone but one", func() bool { return len(w.Jobs().Informer().GetIndexer().ListKeys()) == 1 })
	if job := w.get(kept.Name); job == nil || job.DeletionTimestamp != nil {
		t.Error("it is the wrong one")
	}
}

// Dashboards made for kube-controller-manager know the metric by this name.
func TestDeletionsAreMeasured(t *testing.T) {
	w := plain(t)
	w.finish(w.create("job", ptr.To[int32](0)), time.Now().Add(-time.Hour))
	w.gone("job")
	w.eventually("the deletion is measured", func() bool {
		families, err := w.metrics.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == "ttl_after_finished_controller_job_deletion_duration_seconds" {
				h := f.GetMetric()[0].GetHistogram()
				return h.GetSampleCount() == 1 && h.GetSampleSum() >= 3600
			}
		}
		return false
	})
}
