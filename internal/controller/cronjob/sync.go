package cronjob

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/cronjob"
)

// rounds bounds how often one sync decides.
const rounds = 10

var cronJobs = batchv1.Resource("cronjobs")

// errOutdated tells that a decision was made on a version that is not the newest.
var errOutdated = errors.New("the CronJob has changed meanwhile")

// sync decides on the newest version and carries the decision out.
func (c *Controller) sync(ctx context.Context, key types.NamespacedName) error {
	if key == leftBehind(key.Namespace) {
		return c.releaseLeftBehind(ctx, key)
	}
	for range rounds {
		shown := loop.Shown[*batchv1.CronJob](c.cronJobs, key)
		if shown == nil {
			c.memory.forget(key)
			c.alarm.Set(key, time.Time{})
			return nil
		}
		cj, confirmed := c.memory.newest(shown)
		again, err := c.decide(ctx, cj, confirmed)
		if errors.Is(err, errOutdated) {
			err = c.read(ctx, cj)
			again = true
		}
		if err != nil || !again {
			return err
		}
	}
	c.queue.Add(key)
	return nil
}

// releaseLeftBehind lets the runs go on that wait for nobody any more: their CronJob was deleted, without them, while no
// controller was there.
func (c *Controller) releaseLeftBehind(ctx context.Context, key types.NamespacedName) error {
	runs, err := c.jobs.GetIndexer().ByIndex(byOwner, key.String())
	if err != nil {
		return fmt.Errorf("looking up the runs that were left behind in %s: %w", key.Namespace, err)
	}
	var failed error
	for _, run := range runs {
		if _, err := c.client.Jobs().Modify(ctx, run.(*batchv1.Job), core.Release); !apierrors.IsNotFound(err) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// read asks for the newest version.
func (c *Controller) read(ctx context.Context, cj *batchv1.CronJob) error {
	fresh, err := c.client.CronJobs().Get(ctx, cj.Namespace, cj.Name)
	if err == nil && fresh.UID != cj.UID {
		err = apierrors.NewNotFound(cronJobs, cj.Name)
	}
	if err != nil {
		return fmt.Errorf("asking for CronJob %s/%s: %w", cj.Namespace, cj.Name, err)
	}
	c.memory.learn(fresh)
	return nil
}

// decide is one round; again tells that another has to follow. Nothing is started or stopped on a version of which nobody
// knows whether it is the newest: the run may have ended long ago, and its Job be gone.
func (c *Controller) decide(ctx context.Context, cj *batchv1.CronJob, confirmed bool) (again bool, err error) {
	obs, err := c.observe(ctx, cj)
	if err != nil {
		return false, err
	}
	d := core.Decide(obs)
	c.alarm.Set(loop.Key(cj), d.LookAgain)
	first := d.GoesFirst()
	switch {
	case (first || d.Start != nil) && !confirmed:
		return false, errOutdated
	case first:
		return true, c.rearrange(ctx, cj, &d)
	}
	return d.Again, c.apply(ctx, cj, &d)
}

// apply carries a decision out: the Job before the status that lists it, the deletion of Jobs after the status that tells
// their end, events after what they tell.
func (c *Controller) apply(ctx context.Context, cj *batchv1.CronJob, d *core.Decision) error {
	started, failed := c.start(ctx, cj, d)
	next := d.Status(started)
	if !equality.Semantic.DeepEqual(next, cj.Status) {
		if err := c.store(ctx, cj, next); err != nil {
			return errors.Join(failed, err)
		}
	}
	for _, e := range c.memory.news(cj, d.Events) {
		c.recorder.Event(cj, e.Type, e.Reason, e.Message)
	}
	return errors.Join(failed, c.delete(ctx, cj, d.Prune))
}

// store writes the status, unless somebody has changed the CronJob: then the decision was made on old news.
func (c *Controller) store(ctx context.Context, cj *batchv1.CronJob, next batchv1.CronJobStatus) error {
	changed := cj.DeepCopy()
	changed.Status = next
	stored, err := c.client.CronJobs().UpdateStatus(ctx, changed)
	switch {
	case apierrors.IsConflict(err):
		return errOutdated
	case err != nil:
		c.memory.doubt(cj)
		return fmt.Errorf("storing the status of CronJob %s/%s: %w", cj.Namespace, cj.Name, err)
	}
	c.memory.learn(stored)
	return nil
}
