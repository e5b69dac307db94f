package job

import (
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
	"k8s.io/utils/lru"

	"github.com/stint-dev/stint/internal/client"
)

const (
	// Retries after an error start quickly, since most are conflicts, and slow down for what lasts, like a quota.
	firstRetry = 20 * time.Millisecond
	lastRetry  = time.Minute
	// obituaries is how many Jobs are known to be gone, so that nobody has to ask about each of their pods.
	obituaries = 1000
)

type queue = workqueue.TypedRateLimitingInterface[types.NamespacedName]

// Client is what the controller asks of an API server.
type Client interface {
	Jobs() client.Resource[*batchv1.Job]
	Pods() client.Resource[*corev1.Pod]
}

// Controller runs the Jobs of one API server.
type Controller struct {
	client   Client
	recorder record.EventRecorder
	options  Options
	metrics  *metrics

	jobs, pods cache.SharedIndexInformer
	// shown tell that the handlers have got all that was there when the informers started.
	shown []cache.InformerSynced

	index  *podIndex
	claims *claims
	memory *memory
	// gone are UIDs of Jobs that are no more.
	gone *lru.Cache

	queue queue
	// orphans are pods with the finalizer that no Job may need any more.
	orphans queue
	// broken is why the controller cannot run.
	broken error
}

// New makes a controller and adds its handlers to the informers of c, which the owner of c starts.
func New(c Client, recorder record.EventRecorder, o Options) *Controller {
	o = o.withDefaults()
	jc := &Controller{
		client: c, recorder: recorder, options: o,
		jobs: c.Jobs().Informer(), pods: c.Pods().Informer(),
		claims: newClaims(), memory: newMemory(o.SyncBatchPeriod), gone: lru.New(obituaries),
		queue: newQueue(o, "job"), orphans: newQueue(o, "job_orphan_pod"),
	}
	jc.index = newPodIndex(jc.claims.matches)
	var err error
	jc.metrics, err = newMetrics(o.Registerer)
	jc.broken = errors.Join(err, jc.handle(jc.jobs, jc.jobHandler()), jc.handle(jc.pods, jc.podHandler()))
	return jc
}

func newQueue(o Options, name string) queue {
	return workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry),
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: name, Clock: o.Clock})
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
	defer c.orphans.ShutDown()
	defer c.queue.ShutDown()
	if c.broken != nil {
		return fmt.Errorf("job controller: %w", c.broken)
	}
	if !cache.WaitForCacheSync(ctx.Done(), c.shown...) {
		return nil
	}
	c.findAllOrphans()
	var workers sync.WaitGroup
	for range c.options.ConcurrentSyncs {
		workers.Go(func() { c.work(ctx, c.queue, c.syncWhenRested) })
		workers.Go(func() { c.work(ctx, c.orphans, c.releaseOrphan) })
	}
	<-ctx.Done()
	c.queue.ShutDown()
	c.orphans.ShutDown()
	workers.Wait()
	return nil
}

func (c *Controller) work(ctx context.Context, q queue, do func(context.Context, types.NamespacedName) error) {
	for {
		key, stop := q.Get()
		if stop {
			return
		}
		if err := do(ctx, key); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).V(2).Info("Will try again", "key", key, "reason", err.Error())
			q.AddRateLimited(key)
		} else {
			q.Forget(key)
		}
		q.Done(key)
	}
}

// job returns what the informer shows under key, or nil.
func (c *Controller) job(key types.NamespacedName) *batchv1.Job {
	obj, found, err := c.jobs.GetStore().GetByKey(key.String())
	if err != nil || !found {
		return nil
	}
	return obj.(*batchv1.Job)
}
