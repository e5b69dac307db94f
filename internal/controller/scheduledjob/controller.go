package scheduledjob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/alarm"
	"github.com/stint-dev/stint/internal/client"
)

const (
	// Retries after an error start quickly and slow down for what lasts, like a quota.
	firstRetry = 20 * time.Millisecond
	lastRetry  = time.Minute
	// concurrentSyncs is the default of Options.ConcurrentSyncs.
	concurrentSyncs = 5
)

// Client is what the controller asks of an API server.
type Client interface {
	ScheduledJobs() client.Resource[*stintv1.ScheduledJob]
	Jobs() client.Resource[*batchv1.Job]
	Pods() client.Resource[*corev1.Pod]
	PodTemplates() client.Resource[*corev1.PodTemplate]
}

// Controller runs the ScheduledJobs of one API server.
type Controller struct {
	client   Client
	recorder record.EventRecorder
	syncs    int
	metrics  *metrics

	scheduledJobs, pods cache.SharedIndexInformer
	// shown tell that the handlers have got all that was there when the informers started.
	shown []cache.InformerSynced

	children *children
	users    *templateUsers
	memory   *memory

	queue workqueue.TypedRateLimitingInterface[types.NamespacedName]
	alarm *alarm.Alarm
	// broken is why the controller cannot run.
	broken error
}

// New makes a controller and adds its handlers to the informers of c, which the owner of c starts.
func New(c Client, recorder record.EventRecorder, o Options) *Controller {
	s := &Controller{
		client: c, recorder: recorder, syncs: cmp.Or(o.ConcurrentSyncs, concurrentSyncs),
		scheduledJobs: c.ScheduledJobs().Informer(), pods: c.Pods().Informer(),
		children: newChildren(), users: newTemplateUsers(), memory: newMemory(),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry),
			workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: "scheduledjob"}),
	}
	s.alarm = alarm.New(s.queue.Add)
	var err error
	s.metrics, err = newMetrics(o.Registerer)
	s.broken = errors.Join(err, s.handle(s.scheduledJobs, s.scheduledJobHandler()), s.handle(c.Jobs().Informer(), s.jobHandler()),
		s.handle(s.pods, s.podHandler()), s.handle(c.PodTemplates().Informer(), s.templateHandler()))
	return s
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
		return fmt.Errorf("scheduledjob controller: %w", c.broken)
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
		start := time.Now()
		// What has begun is finished: a write that is broken off may have happened all the same.
		err := c.sync(context.WithoutCancel(ctx), key)
		c.metrics.synced(err, time.Since(start))
		if err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).V(2).Info("Will try again", "scheduledJob", key, "reason", err.Error())
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}
