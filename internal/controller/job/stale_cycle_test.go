package job_test

import (
	"context"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/job"
	core "github.com/stint-dev/stint/internal/job"
)

// changing calls change before every live read of a Job, so that what the informer shows is outdated by then.
type changing struct {
	connection
	change func()
}

func (c changing) Jobs() client.Resource[*batchv1.Job] {
	return changingJobs{c.connection.Jobs(), c.change}
}

type changingJobs struct {
	client.Resource[*batchv1.Job]
	change func()
}

func (r changingJobs) Get(ctx context.Context, namespace, name string) (*batchv1.Job, error) {
	r.change()
	return r.Resource.Get(ctx, namespace, name)
}

// Jobs of a cycle that is open by now do not fail for it, though the informer still shows it as closed.
func TestACycleThatIsOpenByNowFailsNoJob(t *testing.T) {
	e := start(t, job.Options{ConcurrentSyncs: 1}, always(succeed))
	e.stopController()
	closeCycle(t, e)
	open := sync.OnceFunc(func() {
		e.update("b", func(j *batchv1.Job) { j.Annotations, j.Spec.Suspend = nil, ptr.To(true) })
	})
	e.stopController = e.server.Control(job.New(changing{e.client, open}, e.recorder, e.options))
	e.until("b", "suspended", func(j *batchv1.Job) bool { return has(j, batchv1.JobSuspended) || core.Finished(j) })
	e.update("b", func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(false) })
	for _, name := range []string{"a", "b", "c"} {
		if j := e.untilFinished(name); !has(j, batchv1.JobComplete) {
			t.Errorf("%s ends with %+v", name, core.End(j))
		}
	}
}
