package scheduledjob_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/internal/events"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/clienttest"
)

const due = 3

// startDue starts a controller that syncs one object at a time, when several ScheduledJobs are due, through the connection
// that connect returns. It returns the ScheduledJobs once the status of each has its run.
func startDue(t *testing.T, connect func(client.Interface) client.Interface) (*env, []*stintv1.ScheduledJob) {
	t.Helper()
	server := apiservertest.Shared(t)
	e := &env{t: t, server: server, client: server.Client(), api: server.Clientset()}
	e.events = events.NewWriter(e.client.Events(), events.Scheme)
	t.Cleanup(e.events.Close)
	for i := range due {
		e.create(newScheduledJob(fmt.Sprint("s", i), "R1//PT1H"))
	}
	server.Control(scheduledjob.New(connect(e.client), e.events.Recorder("scheduledjob-controller"),
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
	e, handled := startDue(t, func(c client.Interface) client.Interface { return c })
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
	var created *atomic.Int32
	startDue(t, func(c client.Interface) client.Interface {
		c, created = clienttest.WithVanishingJobs(t, c)
		return c
	})
	if n := created.Load(); n != due {
		t.Errorf("%d Jobs were created, want %d", n, due)
	}
}
