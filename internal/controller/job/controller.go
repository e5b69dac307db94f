package job

import (
	"context"
	"sync"
	"sync/atomic"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/lru"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/job/resultslice"
	"github.com/stint-dev/stint/internal/controller/loop"
)

// deletedJobCacheSize is how many deleted Jobs are remembered, so that not every pod of theirs costs a live read.
const deletedJobCacheSize = 1000

// Client is the part of an API server that the controller uses.
type Client interface {
	Jobs() client.Resource[*batchv1.Job]
	Pods() client.Resource[*corev1.Pod]
	ResultSlices() client.Resource[*stintv1.ResultSlice]
}

// Controller runs the Jobs of one API server.
type Controller struct {
	client   Client
	recorder record.EventRecorder
	options  Options
	metrics  *metrics

	jobInformer, podInformer cache.SharedIndexInformer

	loop            *loop.Loop
	jobs            *loop.Parents[*batchv1.Job, jobState]
	podCache        *podCache
	selectorIndex   *selectorIndex
	dependencyIndex *dependencyIndex
	results         *resultslice.Store
	left            *leftPods
	// gone has the UIDs of deleted Jobs.
	gone *lru.Cache

	// allFailedFound is set once findAllFailed has run.
	allFailedFound atomic.Bool
	// orphans has the pods with the tracking finalizer that perhaps no Job will count.
	orphans loop.Queue
}

// New makes a controller and adds its handlers to the informers of c, which the owner of c starts.
func New(c Client, recorder record.EventRecorder, o Options) *Controller {
	o = o.withDefaults()
	jc := &Controller{
		client: c, recorder: recorder, options: o,
		jobInformer: c.Jobs().Informer(), podInformer: c.Pods().Informer(),
		selectorIndex: newSelectorIndex(), dependencyIndex: newDependencyIndex(), gone: lru.New(deletedJobCacheSize),
		left: newLeftPods(o.TerminatedPodsLimit), loop: loop.New("job", o.Clock), orphans: loop.NewQueue("job_orphan_pod", o.Clock),
	}
	jc.podCache = newPodCache(jc.selectorIndex.matches, o.Clock)
	jc.jobs = loop.NewParents[*batchv1.Job, jobState](jc.loop, "Job", c.Jobs(), jc.podCache)
	var err error
	jc.metrics, err = newMetrics(o.Registerer)
	jc.results = resultslice.New(c, resultslice.Options{Max: *o.MaxResults, Clock: o.Clock, Lost: jc.metrics.resultsLost})
	jc.loop.FailStart(err)
	jc.loop.Watch(jc.jobInformer, jc.jobHandler())
	jc.loop.Watch(jc.podInformer, jc.podHandler())
	return jc
}

// Run syncs Jobs until ctx ends and returns after the last write.
func (c *Controller) Run(ctx context.Context) error {
	defer c.orphans.ShutDown()
	if ready, err := c.loop.Ready(ctx); !ready {
		return err
	}
	c.findAllOrphans()
	c.findAllFailed()
	var orphans sync.WaitGroup
	orphans.Go(func() { c.orphans.Run(ctx, c.options.ConcurrentSyncs, c.removeOrphanFinalizer) })
	err := c.loop.Run(ctx, c.options.ConcurrentSyncs, c.syncAfterPause)
	orphans.Wait()
	return err
}

// job returns what the informer shows under key, or nil.
func (c *Controller) job(key types.NamespacedName) *batchv1.Job {
	return loop.Cached[*batchv1.Job](c.jobInformer, key)
}
