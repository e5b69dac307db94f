package scheduledjob

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/equality"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/scheduledjob"
)

// decide is one round of a sync. It creates no Job unless sj is confirmed to be the newest version: by an older one, a run
// that finished long ago, and whose Job was deleted, would be due again.
func (c *Controller) decide(ctx context.Context, sj *stintv1.ScheduledJob, confirmed bool) (again bool, err error) {
	obs, err := c.observe(ctx, sj)
	if err != nil {
		return false, err
	}
	d := core.Decide(obs)
	if len(d.Create) > 0 && !confirmed {
		return false, loop.ErrOutdated
	}
	return false, c.apply(ctx, sj, d)
}

// apply carries out a decision: it creates Jobs before it writes the status that lists them as running, records events after
// that write, and deletes Jobs once the status has their end. If other ScheduledJobs wait to be synced, a later sync does all
// but the first, so that of many that are due at once no Job waits for the statuses of others.
func (c *Controller) apply(ctx context.Context, sj *stintv1.ScheduledJob, d core.Decision) error {
	outcomes, failed := c.create(ctx, sj, d.Create)
	// A run that an earlier sync has started is an event, so there is never a second one that is not listed.
	if c.loop.Queue.Len() > 0 && len(outcomes) == 1 && outcomes[0].Job != nil && len(d.Events(nil)) == 0 {
		c.scheduledJobs.Update(sj, func(s *state) { s.unlisted = outcomes[0].Job })
		c.loop.Queue.Add(loop.Key(sj))
		return nil
	}
	next := d.Status(outcomes)
	if !equality.Semantic.DeepEqual(next, sj.Status) {
		changed := sj.DeepCopy()
		changed.Status = next
		if _, err := c.scheduledJobs.UpdateStatus(ctx, changed); err != nil {
			return errors.Join(failed, err)
		}
		c.metrics.counted(&sj.Status, &next)
	}
	c.scheduledJobs.Update(sj, func(s *state) { s.unlisted = nil })
	for _, e := range d.Events(outcomes) {
		c.recorder.Event(sj, e.Type, e.Reason, e.Message)
	}
	c.loop.Alarm.Set(loop.Key(sj), d.RequeueAt)
	if refused(outcomes) {
		c.loop.Queue.Add(loop.Key(sj)) // The next run may start in place of the refused one.
	}
	return errors.Join(failed, c.delete(ctx, sj, d.Delete))
}
