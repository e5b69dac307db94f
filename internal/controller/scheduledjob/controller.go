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
	"k8s.io/utils/clock"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/alarm"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
)

// concurrentSyncs is the default of Options.ConcurrentSyncs.
const concurrentSyncs = 5

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
	watches             loop.Watches

	children *children
	users    *templateUsers
	memory   *memory

	queue loop.Queue
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
		queue: loop.NewQueue("scheduledjob", nil),
	}
	s.alarm = alarm.New(s.queue.Add, clock.RealClock{})
	var err error
	s.metrics, err = newMetrics(o.Registerer)
	s.broken = errors.Join(err, s.watches.Add(s.scheduledJobs, s.scheduledJobHandler()), s.watches.Add(c.Jobs().Informer(), s.jobHandler()),
		s.watches.Add(s.pods, s.podHandler()), s.watches.Add(c.PodTemplates().Informer(), s.templateHandler()))
	return s
}

// Run works until ctx ends and returns when the last write has.
func (c *Controller) Run(ctx context.Context) error {
	defer c.queue.ShutDown()
	if c.broken != nil {
		return fmt.Errorf("scheduledjob controller: %w", c.broken)
	}
	if !c.watches.Wait(ctx) {
		return nil
	}
	var alarm sync.WaitGroup
	alarm.Go(func() { c.alarm.Run(ctx) })
	c.queue.Run(ctx, c.syncs, c.look)
	alarm.Wait()
	return nil
}

func (c *Controller) look(ctx context.Context, key types.NamespacedName) error {
	start := time.Now()
	// What has begun is finished: a write that is broken off may have happened all the same.
	err := c.sync(context.WithoutCancel(ctx), key)
	c.metrics.synced(err, time.Since(start))
	return err
}
