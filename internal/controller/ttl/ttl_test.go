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
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/ttl"
	"github.com/stint-dev/stint/test/await"
)

func TestJobsGoAfterTheirTime(t *testing.T) {
	w := plain(t, clock.RealClock{})
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

func TestAJobGoesAtItsTimeAndNotBefore(t *testing.T) {
	now := held()
	w := plain(t, now)
	due := now.Now().Add(time.Hour)
	job := w.finish(w.create("job", ptr.To[int32](3600)), now.Now())
	w.stays(job.Name)
	now.SetTime(due.Add(-time.Millisecond))
	w.stays(job.Name)
	now.SetTime(due)
	w.gone(job.Name)
}

func TestTheTimeToLiveMayChangeAfterTheEnd(t *testing.T) {
	const hour = 3600
	now := held()
	w := plain(t, now)
	past := now.Now().Add(-time.Hour)
	set := w.finish(w.create("set", nil), past)
	w.stays("set")
	w.set(set, ptr.To[int32](10))
	w.gone("set")

	shortened := w.finish(w.create("shortened", ptr.To[int32](2*hour)), past)
	w.stays("shortened")
	w.set(shortened, ptr.To[int32](hour))
	w.gone("shortened")

	// stays returns after other Jobs have expired: by then, the alarm of this Job is set.
	cleared := w.finish(w.create("cleared", ptr.To[int32](hour)), now.Now())
	extended := w.finish(w.create("extended", ptr.To[int32](hour)), now.Now())
	due := w.finish(w.create("due", ptr.To[int32](hour)), now.Now())
	w.stays(cleared.Name)
	w.stays(extended.Name)
	w.stays(due.Name)
	w.set(cleared, nil)
	w.set(extended, ptr.To[int32](2*hour))
	now.SetTime(now.Now().Add(time.Hour))
	w.gone(due.Name)
	w.stays(cleared.Name)
	w.stays(extended.Name)
	now.SetTime(now.Now().Add(time.Hour))
	w.gone(extended.Name)
	w.stays(cleared.Name)
}

func TestTheJobGoesAfterItsPods(t *testing.T) {
	w := plain(t, clock.RealClock{})
	job := w.create("job", ptr.To[int32](0))
	w.pod(job, "free")
	held := w.pod(job, "held", "example.com/hold")
	w.finish(job, time.Now())
	await.Until(w, "the pod without a finalizer is gone", func() bool {
		_, err := w.Pods().Get(w.ctx, w.namespace, "free")
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

// interposed is the real resource of Jobs, with hooks before and after a Job is read.
type interposed struct {
	client.Resource[*batchv1.Job]
	before, after func(name string)
}

func (i *interposed) Jobs() client.Resource[*batchv1.Job] { return i }

func (i *interposed) Get(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	i.before(name)
	defer i.after(name)
	return i.Resource.Get(ctx, namespace, name)
}

// change happens while the controller is about to delete a Job; check checks what becomes of the Job.
type change struct {
	happens func(w *world, job *batchv1.Job)
	check   func(w *world)
}

func TestWhatHappensWhileAJobIsAboutToBeDeleted(t *testing.T) {
	for sentence, c := range changes {
		t.Run(sentence, func(t *testing.T) {
			t.Run("before it is read", func(t *testing.T) { playChange(t, c, true) })
			t.Run("after it was read", func(t *testing.T) { playChange(t, c, false) })
		})
	}
}

func playChange(t *testing.T, c change, before bool) {
	happened := make(chan struct{})
	w := start(t, held(), func(w *world) ttl.Client {
		var once sync.Once
		now := func(name string) {
			if name == "job" {
				once.Do(func() { c.happens(w, w.get(name)); close(happened) })
			}
		}
		later := func(string) {}
		if !before {
			now, later = later, now
		}
		return &interposed{w.Jobs(), now, later}
	})
	w.finish(w.create("job", ptr.To[int32](0)), w.clock.Now())
	await.Value(t, "the Job to be looked at", happened)
	c.check(w)
}

var changes = map[string]change{
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
			w.finish(w.create("job", ptr.To[int32](3600)), w.clock.Now())
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
	"the clock is set back": {
		func(w *world, _ *batchv1.Job) { w.turn(-time.Hour) },
		func(w *world) {
			w.stays("job")
			w.turn(time.Hour)
			w.gone("job")
		},
	},
}

func TestManyJobsExpireAtOnce(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 200 // With the race detector, 1000 Jobs take too long.
	}
	now := held()
	w := plain(t, now)
	var making sync.WaitGroup
	for k := range 20 {
		making.Go(func() {
			for i := k; i < n; i += 20 {
				w.finish(w.create(fmt.Sprint("job-", i), ptr.To[int32](1)), now.Now())
			}
		})
	}
	making.Wait()
	kept := w.finish(w.create("kept", ptr.To[int32](3600)), now.Now())
	jobs := w.Jobs().Informer().GetIndexer()
	await.Until(t, "all are shown", func() bool { return len(jobs.ListKeys()) == n+1 })
	now.SetTime(now.Now().Add(time.Second))
	await.Until(t, "all are gone but one", func() bool { return len(jobs.ListKeys()) == 1 })
	if job := w.get(kept.Name); job == nil || job.DeletionTimestamp != nil {
		t.Error("it is the wrong one")
	}
}

// Dashboards for kube-controller-manager use this name of the metric.
func TestDeletionsAreMeasured(t *testing.T) {
	w := plain(t, clock.RealClock{})
	w.finish(w.create("job", ptr.To[int32](0)), time.Now().Add(-time.Hour))
	w.gone("job")
	await.Until(w, "the deletion is measured", func() bool {
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
