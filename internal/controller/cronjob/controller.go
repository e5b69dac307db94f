package cronjob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/internal/alarm"
	"github.com/stint-dev/stint/internal/client"
)

const (
	// Retries after an error start quickly and slow down for what lasts, like a quota.
	firstRetry = 20 * time.Millisecond
	lastRetry  = time.Minute
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
	// shown tell that the handlers have got all that was there when the informers started.
	shown []cache.InformerSynced

	memory *memory
	queue  workqueue.TypedRateLimitingInterface[types.NamespacedName]
	alarm  *alarm.Alarm
	// broken is why the controller cannot run.
	broken error
}

// New makes a controller and adds its handlers to the informers of c, which the owner of c starts.
func New(c Client, recorder record.EventRecorder, o Options) *Controller {
	cj := &Controller{
		client: c, recorder: recorder, syncs: cmp.Or(o.ConcurrentSyncs, concurrentSyncs),
		cronJobs: c.CronJobs().Informer(), jobs: c.Jobs().Informer(), memory: newMemory(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: "cronjob"}),
	}
	cj.alarm = alarm.New(cj.queue.Add)
	var err error
	cj.metrics, err = newMetrics(o.Registerer)
	cj.broken = errors.Join(err, cj.indexJobs(), cj.handle(cj.cronJobs, cj.cronJobHandler()), cj.handle(cj.jobs, cj.jobHandler()))
	return cj
}

// indexJobs leaves an index alone that an earlier controller on the same informer has made.
func (c *Controller) indexJobs() error {
	if _, made := c.jobs.GetIndexer().GetIndexers()[byOwner]; made {
		return nil
	}
	return c.jobs.AddIndexers(cache.Indexers{byOwner: func(obj any) ([]string, error) {
		if ref := owner(obj.(*batchv1.Job)); ref != nil {
			return []string{string(ref.UID)}, nil
		}
		return nil, nil
	}})
}

func (c *Controller) handle(informer cache.SharedIndexInformer, h cache.ResourceEventHandler) error {
	registration, err := informer.AddEventHandler(h)
	if err != nil {
		return fmt.Errorf("watching: %w", err)
	}
	c.shown = append(c.shown, registration.HasSynced)
	return nil
}

// Run works until ctx ends and returns when the last write has.
func (c *Controller) Run(ctx context.Context) error {
	defer c.queue.ShutDown()
	if c.broken != nil {
		return fmt.Errorf("cronjob controller: %w", c.broken)
	}
	if !cache.WaitForCacheSync(ctx.Done(), c.shown...) {
		return nil
	}
	var running sync.WaitGroup
	running.Go(func() { c.alarm.Run(ctx) })
	for range c.syncs {
		running.Go(func() { c.work(ctx) })
	}
	<-ctx.Done()
	c.queue.ShutDown()
	running.Wait()
	return nil
}

func (c *Controller) work(ctx context.Context) {
	for {
		key, stop := c.queue.Get()
		if stop {
			return
		}
		// What has begun is finished: a write that is broken off may have happened all the same.
		err := c.sync(context.WithoutCancel(ctx), key)
		if err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).V(2).Info("Will try again", "cronJob", key, "reason", err.Error())
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}
