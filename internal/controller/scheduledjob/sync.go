package scheduledjob

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/scheduledjob"
)

// rounds bounds how often one sync starts over because somebody else has written.
const rounds = 5

var scheduledJobs = schema.GroupResource{Group: stintv1.GroupName, Resource: "scheduledjobs"}

// errOutdated tells that a decision was made on a version that is not the newest.
var errOutdated = errors.New("the ScheduledJob has changed meanwhile")

// sync decides on the newest version and carries the decision out.
func (c *Controller) sync(ctx context.Context, key types.NamespacedName) error {
	for range rounds {
		shown := loop.Shown[*stintv1.ScheduledJob](c.scheduledJobs, key)
		if shown == nil {
			c.memory.forget(key)
			c.alarm.Set(key, time.Time{})
			return nil
		}
		sj, confirmed := c.memory.newest(shown)
		err := c.decide(ctx, sj, confirmed)
		if !errors.Is(err, errOutdated) {
			return err
		}
		if err := c.read(ctx, sj); err != nil {
			return err
		}
	}
	c.queue.Add(key)
	return nil
}

// read asks for the newest version.
func (c *Controller) read(ctx context.Context, sj *stintv1.ScheduledJob) error {
	fresh, err := c.client.ScheduledJobs().Get(ctx, sj.Namespace, sj.Name)
	if err == nil && fresh.UID != sj.UID {
		err = apierrors.NewNotFound(scheduledJobs, sj.Name)
	}
	if err != nil {
		return fmt.Errorf("asking for ScheduledJob %s/%s: %w", sj.Namespace, sj.Name, err)
	}
	c.memory.learn(fresh)
	return nil
}

// decide is one round. Nothing is created on a version of which nobody knows whether it is the newest: the run may have
// ended long ago, and its Job be gone.
func (c *Controller) decide(ctx context.Context, sj *stintv1.ScheduledJob, confirmed bool) error {
	obs, err := c.observe(ctx, sj)
	if err != nil {
		return err
	}
	d := core.Decide(obs)
	if len(d.Create) > 0 && !confirmed {
		return errOutdated
	}
	return c.apply(ctx, sj, d)
}

// apply carries a decision out: the Jobs before the status that lists them as running, the deletion of Jobs after the
// status that tells their end, events after what they tell.
func (c *Controller) apply(ctx context.Context, sj *stintv1.ScheduledJob, d core.Decision) error {
	outcomes, failed := c.create(ctx, sj, d.Create)
	next := d.Status(outcomes)
	if !equality.Semantic.DeepEqual(next, sj.Status) {
		if err := c.store(ctx, sj, next); err != nil {
			return errors.Join(failed, err)
		}
		c.metrics.counted(&sj.Status, &next)
	}
	for _, e := range d.Tell(outcomes) {
		c.recorder.Event(sj, e.Type, e.Reason, e.Message)
	}
	c.alarm.Set(loop.Key(sj), d.LookAgain)
	if refused(outcomes) {
		c.queue.Add(loop.Key(sj)) // the next run need not wait
	}
	return errors.Join(failed, c.delete(ctx, sj, d.Delete))
}

// store writes the status, unless somebody has changed the ScheduledJob: then the decision was made on old news.
func (c *Controller) store(ctx context.Context, sj *stintv1.ScheduledJob, next stintv1.ScheduledJobStatus) error {
	changed := sj.DeepCopy()
	changed.Status = next
	written, err := c.client.ScheduledJobs().UpdateStatus(ctx, changed)
	switch {
	case apierrors.IsConflict(err):
		return errOutdated
	case err != nil:
		c.memory.doubt(sj)
		return fmt.Errorf("storing the status of ScheduledJob %s/%s: %w", sj.Namespace, sj.Name, err)
	}
	c.memory.learn(written)
	return nil
}
