package scheduledjob

import (
	"cmp"
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
)

// concurrentSyncs is the default of Options.ConcurrentSyncs.
const concurrentSyncs = 5

// Client gives access to the resources of an API server that the controller uses.
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

	loop          *loop.Loop
	scheduledJobs *loop.Parents[*stintv1.ScheduledJob, state]
	// jobs are the Jobs of each ScheduledJob, and pods the pods of each of these Jobs.
	jobs  *loop.Children[*batchv1.Job]
	pods  *loop.Children[*corev1.Pod]
	users *templateUsers
}

// state is what the controller keeps of a ScheduledJob between two syncs.
type state struct {
	// unlisted is a Job that was created and that the status does not list yet; nil if there is none. It counts as a run until the
	// status is written, even if it is deleted before: otherwise its run would start again.
	unlisted *batchv1.Job
}

// New returns a controller and adds its handlers to the informers of c, which the caller starts.
func New(c Client, recorder record.EventRecorder, o Options) *Controller {
	l, jobs := loop.New("scheduledjob", nil), loop.NewChildren(loop.Rules[*batchv1.Job]{Kind: "Job"}, nil)
	s := &Controller{
		client: c, recorder: recorder, syncs: cmp.Or(o.ConcurrentSyncs, concurrentSyncs),
		loop: l, scheduledJobs: loop.NewParents[*stintv1.ScheduledJob, state](l, "ScheduledJob", c.ScheduledJobs(), jobs),
		jobs: jobs, pods: loop.NewChildren(loop.Rules[*corev1.Pod]{}, nil), users: newTemplateUsers(),
	}
	var err error
	s.metrics, err = newMetrics(o.Registerer)
	l.FailStart(err)
	l.Watch(c.ScheduledJobs().Informer(), s.scheduledJobHandler())
	l.Watch(c.Jobs().Informer(), s.jobHandler())
	l.Watch(c.Pods().Informer(), s.podHandler())
	l.Watch(c.PodTemplates().Informer(), s.templateHandler())
	return s
}

// Run runs the controller until ctx ends, and returns when its last write has.
func (c *Controller) Run(ctx context.Context) error { return c.loop.Run(ctx, c.syncs, c.sync) }

// sync finishes what it has begun even if ctx ends: a write that is cancelled may have happened all the same.
func (c *Controller) sync(ctx context.Context, key types.NamespacedName) error {
	start := time.Now()
	err := c.scheduledJobs.Sync(context.WithoutCancel(ctx), key, c.decide)
	c.metrics.synced(err, time.Since(start))
	return err
}
