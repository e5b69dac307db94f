package cronjob

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/cronjob"
)

func (c *Controller) observe(ctx context.Context, cj *batchv1.CronJob) (core.Observation, error) {
	obs := core.Observation{CronJob: cj, Deleted: map[types.UID]bool{}}
	var unlisted *batchv1.Job
	c.cronJobs.Update(cj, func(s *state) { obs.ScheduleSince, unlisted = s.scheduleSince(cj), s.unlisted })
	listed := map[string]types.UID{}
	for i := range cj.Status.Active {
		ref := &cj.Status.Active[i]
		if _, deleted := c.deleted.Get(ref.UID); deleted {
			obs.Deleted[ref.UID] = true
		} else {
			listed[ref.Name] = ref.UID
		}
	}
	if err := c.jobs.Confirm(ctx, cj, c.client.Jobs(), listed); err != nil {
		return obs, err
	}
	for _, child := range c.jobs.Of(cj.UID) {
		if !child.Deleted {
			obs.Jobs = append(obs.Jobs, child.Newest)
		}
	}
	obs.Jobs = loop.WithUnlisted(obs.Jobs, unlisted)
	obs.Now = time.Now()
	return obs, nil
}
