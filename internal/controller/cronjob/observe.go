package cronjob

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	core "github.com/stint-dev/stint/internal/cronjob"
)

func (c *Controller) observe(ctx context.Context, cj *batchv1.CronJob) (core.Observation, error) {
	obs := core.Observation{CronJob: cj, Deleted: map[types.UID]bool{}}
	c.cronJobs.Update(cj, func(s *state) { obs.ScheduleSince = s.scheduleSince(cj) })
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
	obs.Now = time.Now()
	return obs, nil
}
