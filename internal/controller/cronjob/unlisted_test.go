package cronjob_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/controller/cronjob"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/test/clienttest"
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
	vanishing, created := clienttest.WithVanishingJobs(t, e.client)
	e.stop = e.server.Control(cronjob.New(vanishing, e.events.Recorder("cronjob-controller"), cronjob.Options{ConcurrentSyncs: 1}))
	e.untilHandled()
	if n := created.Load(); n != due {
		t.Errorf("%d Jobs were created, want %d", n, due)
	}
}
