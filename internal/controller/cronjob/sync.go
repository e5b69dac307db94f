package cronjob

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/cronjob"
)

// decide is one round of a sync. It starts and replaces nothing unless cj is confirmed to be the newest version: by an older
// one, a run that finished long ago, and whose Job was deleted, would be due again.
func (c *Controller) decide(ctx context.Context, cj *batchv1.CronJob, confirmed bool) (again bool, err error) {
	obs, err := c.observe(ctx, cj)
	if err != nil {
		return false, err
	}
	d := core.Decide(obs)
	c.loop.Alarm.Set(loop.Key(cj), d.RequeueAt)
	first := d.ReplansAfter()
	switch {
	case (first || d.Start != nil) && !confirmed:
		return false, loop.ErrOutdated
	case first:
		return true, c.applyConcurrencyPolicy(ctx, cj, &d)
	}
	return d.RequeueAfterStatus, c.apply(ctx, cj, &d)
}

// apply carries out a decision: it creates the Job before it writes the status that lists it, records events after that
// write, and deletes Jobs once the status has their end. If other CronJobs wait to be synced, a later sync does all but the
// first, so that of many that are due at once no Job waits for the statuses of others.
func (c *Controller) apply(ctx context.Context, cj *batchv1.CronJob, d *core.Decision) error {
	started, failed := c.start(ctx, cj, d)
	if started != nil && len(d.Events) == 0 && c.loop.Queue.Len() > 0 {
		c.cronJobs.Update(cj, func(s *state) { s.unlisted = started })
		c.loop.Queue.Add(loop.Key(cj))
		return nil
	}
	next := d.Status(started)
	if !equality.Semantic.DeepEqual(next, cj.Status) {
		changed := cj.DeepCopy()
		changed.Status = next
		if _, err := c.cronJobs.UpdateStatus(ctx, changed); err != nil {
			return errors.Join(failed, err)
		}
	}
	var added []core.Event
	c.cronJobs.Update(cj, func(s *state) {
		s.unlisted = nil
		added = s.newEvents(d.Events)
	})
	for _, e := range added {
		c.recorder.Event(cj, e.Type, e.Reason, e.Message)
	}
	return errors.Join(failed, c.delete(ctx, cj, d.DeleteHistory))
}

// resumeOrphanedHeldRuns resumes the held runs of a namespace whose CronJob was deleted without them while no controller ran.
func (c *Controller) resumeOrphanedHeldRuns(ctx context.Context, key types.NamespacedName) error {
	var failed error
	for _, run := range c.jobs.Of(types.UID(key.String())) {
		if _, err := c.client.Jobs().Modify(ctx, run.Newest, core.ResumeRun); !apierrors.IsNotFound(err) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
