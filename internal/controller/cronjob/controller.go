package cronjob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/stint-dev/stint/internal/alarm"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
)

const (
	// concurrentSyncs is the default of Options.ConcurrentSyncs.
	concurrentSyncs = 5
	// byOwner is the name of the index of Jobs by the UID of the CronJob that controls them.
	byOwner = "cronjob"
)

// Client is what the controller asks of an API server.
type Client interface {
	CronJobs() client.Resource[*batchv1.CronJob]
	Jobs() client.Resource[*batchv1.Job]
}

// Controller runs the CronJobs of one API server.
type Controller struct {
	client   Client
	recorder record.EventRecorder
	syncs    int
	metrics  *metrics

	cronJobs, jobs cache.SharedIndexInformer
	watches        loop.Watches

	memory *memory
	queue  loop.Queue
	alarm  *alarm.Alarm
	// broken is why the controller cannot run.
	broken error
}

// New makes a controller and adds its handlers to the informers of c, which the owner of c starts.
func New(c Client, recorder record.EventRecorder, o Options) *Controller {
	cj := &Controller{
		client: c, recorder: recorder, syncs: cmp.Or(o.ConcurrentSyncs, concurrentSyncs),
		cronJobs: c.CronJobs().Informer(), jobs: c.Jobs().Informer(), memory: newMemory(),
		queue: loop.NewQueue("cronjob", nil),
	}
	cj.alarm = alarm.New(cj.queue.Add, clock.RealClock{})
	var err error
	cj.metrics, err = newMetrics(o.Registerer)
	cj.broken = errors.Join(err, cj.indexJobs(), cj.watches.Add(cj.cronJobs, cj.cronJobHandler()), cj.watches.Add(cj.jobs, cj.jobHandler()))
	return cj
}

// indexJobs leaves an index alone that an earlier controller on the same informer has made.
func (c *Controller) indexJobs() error {
	if _, made := c.jobs.GetIndexer().GetIndexers()[byOwner]; made {
		return nil
	}
	return c.jobs.AddIndexers(cache.Indexers{byOwner: func(obj any) ([]string, error) {
		job := obj.(*batchv1.Job)
		switch ref := owner(job); {
		case ref != nil:
			return []string{string(ref.UID)}, nil
		case isLeftBehind(job):
			return []string{leftBehind(job.Namespace).String()}, nil
		}
		return nil, nil
	}})
}

// Run works until ctx ends and returns when the last write has.
func (c *Controller) Run(ctx context.Context) error {
	defer c.queue.ShutDown()
	if c.broken != nil {
		return fmt.Errorf("cronjob controller: %w", c.broken)
	}
	if !c.watches.Wait(ctx) {
		return nil
	}
	var alarm sync.WaitGroup
	alarm.Go(func() { c.alarm.Run(ctx) })
	c.queue.Run(ctx, c.syncs, func(ctx context.Context, key types.NamespacedName) error {
		// What has begun is finished: a write that is broken off may have happened all the same.
		return c.sync(context.WithoutCancel(ctx), key)
	})
	alarm.Wait()
	return nil
}
