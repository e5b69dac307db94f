package cronjob

import (
	"cmp"
	"context"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/lru"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
)

const (
	// concurrentSyncs is the default of Options.ConcurrentSyncs.
	concurrentSyncs = 5
	// deletedJobCacheSize is how many UIDs Controller.deleted has at most.
	deletedJobCacheSize = 4096
)

// Client gives access to the resources of an API server that the controller uses.
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

	loop     *loop.Loop
	cronJobs *loop.Parents[*batchv1.CronJob, state]
	// jobs are the Jobs of each CronJob and, under orphanedHeldRuns, the orphaned held runs of each namespace.
	jobs *loop.Children[*batchv1.Job]
	// deleted has the UIDs of Jobs that the controller has deleted, the latest ones: they get no MissingJob event.
	deleted *lru.Cache
}

// New returns a controller and adds its handlers to the informers of c, which the caller starts.
func New(c Client, recorder record.EventRecorder, o Options) *Controller {
	l, jobs := loop.New("cronjob", nil), loop.NewChildren(loop.Rules[*batchv1.Job]{Kind: "Job"}, nil)
	cj := &Controller{
		client: c, recorder: recorder, syncs: cmp.Or(o.ConcurrentSyncs, concurrentSyncs),
		loop: l, cronJobs: loop.NewParents[*batchv1.CronJob, state](l, "CronJob", c.CronJobs(), jobs),
		jobs: jobs, deleted: lru.New(deletedJobCacheSize),
	}
	var err error
	cj.metrics, err = newMetrics(o.Registerer)
	l.FailStart(err)
	l.Watch(c.CronJobs().Informer(), cj.cronJobHandler())
	l.Watch(c.Jobs().Informer(), cj.jobHandler())
	return cj
}

// Run runs the controller until ctx ends, and returns when its last write has.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx, c.syncs, c.sync) }

// sync finishes what it has begun even if ctx ends: a write that is cancelled may have happened all the same.
func (c *Controller) sync(ctx context.Context, key types.NamespacedName) error {
	ctx = context.WithoutCancel(ctx)
	if key == orphanedHeldRuns(key.Namespace) {
		return c.resumeOrphanedHeldRuns(ctx, key)
	}
	return c.cronJobs.Sync(ctx, key, c.decide)
}
