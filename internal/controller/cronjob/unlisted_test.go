package cronjob_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/test/await"
)

const due = 3

// createDue creates CronJobs that are due now.
func (e *env) createDue() {
	e.t.Helper()
	schedule := halfAnHourAgo()
	for i := range due {
		e.missed(fmt.Sprint("c", i), schedule)
	}
}

// untilHandled waits until each of them has its due time in the status.
func (e *env) untilHandled() (all []*batchv1.CronJob) {
	e.t.Helper()
	for i := range due {
		all = append(all, e.until(fmt.Sprint("c", i), "handled", func(cj *batchv1.CronJob) bool {
			return cj.CreationTimestamp.Sub(cj.Status.LastScheduleTime.Time) < 45*time.Minute
		}))
	}
	return all
}

func TestOfManyThatAreDueNoJobWaitsForTheStatusOfAnother(t *testing.T) {
	e := prepare(t)
	e.createDue()
	e.run(cronjob.Options{ConcurrentSyncs: 1})
	handled := e.untilHandled()
	for _, job := range e.jobs() {
		for _, cj := range handled {
			if loop.Older(cj, &job) {
				t.Errorf("the status of %s was written before Job %s was created", cj.Name, job.Name)
			}
		}
	}
}

func TestARunWhoseJobIsDeletedBeforeItIsListedDoesNotStartAgain(t *testing.T) {
	e := prepare(t)
	e.createDue()
	vanishing := &vanishingJobs{Resource: e.client.Jobs(), t: t}
	e.stop = e.server.Control(cronjob.New(withJobs{e.client, vanishing}, e.events.Recorder("cronjob-controller"), cronjob.Options{ConcurrentSyncs: 1}))
	e.untilHandled()
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
