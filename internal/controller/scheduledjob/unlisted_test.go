package scheduledjob_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/internal/events"
	"github.com/stint-dev/stint/test/await"
)

const due = 3

// startDue starts a controller that syncs one object at a time, when several ScheduledJobs are due and the Jobs are those of
// jobs. It returns the ScheduledJobs once the status of each has its run.
func startDue(t *testing.T, jobs func(client.Interface) client.Resource[*batchv1.Job]) (*env, []*stintv1.ScheduledJob) {
	t.Helper()
	server := apiservertest.Shared(t)
	e := &env{t: t, server: server, client: server.Client(), api: server.Clientset()}
	e.events = events.NewWriter(e.client.Events(), events.Scheme)
	t.Cleanup(e.events.Close)
	for i := range due {
		e.create(newScheduledJob(fmt.Sprint("s", i), "R1//PT1H"))
	}
	server.Control(scheduledjob.New(withJobs{e.client, jobs(e.client)}, e.events.Recorder("scheduledjob-controller"),
		scheduledjob.Options{ConcurrentSyncs: 1}))
	var handled []*stintv1.ScheduledJob
	for i := range due {
		await.Until(t, "a run is listed", func() bool {
			sj, err := e.client.ScheduledJobs().Get(t.Context(), server.Namespace, fmt.Sprint("s", i))
			if err != nil || len(sj.Status.RunningExecutions)+len(sj.Status.CompletedExecutions) == 0 {
				return false
			}
			handled = append(handled, sj)
			return true
		})
	}
	return e, handled
}

func TestOfManyThatAreDueNoJobWaitsForTheStatusOfAnother(t *testing.T) {
	e, handled := startDue(t, client.Interface.Jobs)
	for _, sj := range handled {
		for _, other := range handled {
			for _, run := range other.Status.RunningExecutions {
				job, err := e.client.Jobs().Get(t.Context(), e.server.Namespace, run.JobName)
				if err != nil {
					t.Fatal(err)
				}
				if loop.Older(sj, job) {
					t.Errorf("the status of %s was written before Job %s was created", sj.Name, job.Name)
				}
			}
		}
	}
}

func TestARunWhoseJobIsDeletedBeforeItIsListedDoesNotStartAgain(t *testing.T) {
	vanishing := &vanishingJobs{t: t}
	_, _ = startDue(t, func(c client.Interface) client.Resource[*batchv1.Job] {
		vanishing.Resource = c.Jobs()
		return vanishing
	})
	if n := vanishing.made.Load(); n != due {
		t.Errorf("%d Jobs were created, want %d", n, due)
	}
}

// withJobs is a Client with other Jobs.
type withJobs struct {
	client.Interface
	jobs client.Resource[*batchv1.Job]
}

func (c withJobs) Jobs() client.Resource[*batchv1.Job] { return c.jobs }

// vanishingJobs are deleted as soon as they are created, which the informer shows before the controller goes on.
type vanishingJobs struct {
	client.Resource[*batchv1.Job]
	t    *testing.T
	made atomic.Int32
}

func (v *vanishingJobs) Create(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	made, err := v.Resource.Create(ctx, job)
	if err != nil {
		return nil, err
	}
	v.made.Add(1)
	v.untilCached(made, true)
	if err := v.Delete(ctx, made, client.DeleteOptions{Propagation: "Background"}); err != nil {
		return nil, err
	}
	v.untilCached(made, false)
	return made, nil
}

func (v *vanishingJobs) untilCached(job *batchv1.Job, want bool) {
	await.Until(v.t, fmt.Sprintf("cached: %t", want), func() bool {
		return (loop.Cached[*batchv1.Job](v.Informer(), loop.Key(job)) != nil) == want
	})
}
