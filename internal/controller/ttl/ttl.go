// Package ttl deletes finished Jobs and their dependents after spec.ttlSecondsAfterFinished.
//
//	informer ──► alarm, at the expiry of the cached Job ──► queue ──► live read ──► delete, if still expired
//
// The cached Job only decides when to look. A Job is deleted only after a live read, and only in the version that was read.
package ttl

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/stint-dev/stint/internal/alarm"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
)

// workers is enough for the store to write deletions in batches when many Jobs expire at once.
const workers = 16

// Client is the part of the API that the Controller uses.
type Client interface {
	Jobs() client.Resource[*batchv1.Job]
}

// Options are for New.
type Options struct {
	// Registerer registers the metrics, unless it is nil.
	Registerer prometheus.Registerer
	// Clock is the real clock if nil.
	Clock clock.PassiveClock
}

// Controller deletes the expired Jobs of one API server.
type Controller struct {
	jobs     client.Resource[*batchv1.Job]
	clock    clock.PassiveClock
	loop     *loop.Loop
	alarmMu  sync.Mutex // held from reading the cached Job to setting the alarm
	lateness prometheus.Histogram
}

// New watches the Jobs of c. The informers may be started after it returns.
func New(c Client, o Options) *Controller {
	t := &Controller{jobs: c.Jobs(), clock: o.Clock, loop: loop.New("ttl_jobs_to_delete", nil)}
	if t.clock == nil {
		t.clock = clock.RealClock{}
	}
	t.loop.Alarm = alarm.New(t.loop.Queue.Add, t.clock)
	var err error
	t.lateness, err = newLateness(o.Registerer)
	t.loop.FailStart(err)
	t.loop.Watch(t.jobs.Informer(), loop.Handler(func(was, is *batchv1.Job) {
		t.schedule(loop.Key(cmp.Or(is, was)))
	}))
	return t
}

// Run deletes expired Jobs until ctx ends.
func (t *Controller) Run(ctx context.Context) error { return t.loop.Run(ctx, workers, t.sync) }

// schedule sets the alarm to the expiry of the cached Job. With the lock, the last of several calls has read the newest
// version.
func (t *Controller) schedule(key types.NamespacedName) {
	t.alarmMu.Lock()
	defer t.alarmMu.Unlock()
	var at time.Time
	if job := t.cached(key); job != nil {
		if expiry, ok := Expiry(job); ok {
			at = expiry
		}
	}
	t.loop.Alarm.Set(key, at)
}

func (t *Controller) cached(key types.NamespacedName) *batchv1.Job {
	return loop.Cached[*batchv1.Job](t.jobs.Informer(), key)
}

func (t *Controller) sync(ctx context.Context, key types.NamespacedName) error {
	err := t.expire(ctx, key)
	if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
		klog.FromContext(ctx).Error(err, "An expired Job could not be deleted and will be retried", "job", key)
	}
	return err
}

// expire deletes the Job if it has expired. It reads the Job live, because its time to live may have changed or another Job
// may have its name, and deletes only the version that it read.
func (t *Controller) expire(ctx context.Context, key types.NamespacedName) error {
	job, err := t.jobs.Get(ctx, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	expiry, ok := Expiry(job)
	if !ok {
		return nil
	}
	late := t.clock.Now().Round(0).Sub(expiry)
	if late < 0 {
		t.wait(key, job.ResourceVersion)
		return nil
	}
	err = t.jobs.Delete(ctx, job, client.DeleteOptions{Propagation: metav1.DeletePropagationForeground, Unchanged: true})
	if err == nil {
		t.lateness.Observe(late.Seconds())
		return nil
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// wait sets the alarm again after it was too early, because the clock was set back. If the version that was read is not
// cached, an event follows that sets the alarm.
func (t *Controller) wait(key types.NamespacedName, version string) {
	if job := t.cached(key); job != nil && job.ResourceVersion == version {
		t.schedule(key)
	}
}
