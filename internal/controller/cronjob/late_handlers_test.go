package cronjob_test

import (
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	"github.com/stint-dev/stint/test/await"
)

func TestAScheduleThatIsCachedBeforeTheHandlersSeeItsChange(t *testing.T) {
	for sentence, c := range map[string]struct {
		before  func(*batchv1.CronJobSpec)
		changes []func(*batchv1.CronJobSpec)
		// started is how many runs start once the handlers have observed the change.
		started int
	}{
		"does not count for the time before": {
			before:  func(*batchv1.CronJobSpec) {},
			changes: []func(*batchv1.CronJobSpec){func(s *batchv1.CronJobSpec) { s.Schedule = halfAnHourAgo() }},
		},
		"counts once the handlers see it, if it was changed during a suspension": {
			before: func(s *batchv1.CronJobSpec) { s.Suspend = ptr.To(true) },
			changes: []func(*batchv1.CronJobSpec){
				func(s *batchv1.CronJobSpec) { s.Schedule = halfAnHourAgo() },
				func(s *batchv1.CronJobSpec) { s.Suspend = ptr.To(false) },
			},
			started: 1,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			e := prepare(t)
			e.missed("c", never, c.before)
			notified := make(chan struct{})
			notify := sync.OnceFunc(func() { close(notified) })
			t.Cleanup(notify)
			e.client = notifiesLate{e.client, notified}
			e.run(cronjob.Options{})
			var cj *batchv1.CronJob
			for _, change := range c.changes {
				cj = e.edit("c", change)
			}
			await.Until(e.t, "the change to be shown", func() bool {
				shown, found, err := e.client.CronJobs().Informer().GetStore().GetByKey(e.server.Namespace + "/c")
				return err == nil && found && shown.(*batchv1.CronJob).Generation == cj.Generation
			})
			e.createManualRun(cj, "before") // Triggers a sync.
			active := func(n int) {
				t.Helper()
				e.until("c", "runs are active", func(cj *batchv1.CronJob) bool { return len(cj.Status.Active) >= n })
				if jobs := e.jobs(); len(jobs) != n {
					t.Errorf("%d Jobs, want %d", len(jobs), n)
				}
			}
			active(1)
			notify()
			active(1 + c.started)
			e.createManualRun(cj, "after")
			active(2 + c.started)
		})
	}
}

// notifiesLate is a client whose informer has a changed schedule in its cache before it calls the handlers for the change.
type notifiesLate struct {
	client.Interface
	notified <-chan struct{}
}

func (c notifiesLate) CronJobs() client.Resource[*batchv1.CronJob] {
	return cronJobsLate{c.Interface.CronJobs(), c.notified}
}

type cronJobsLate struct {
	client.Resource[*batchv1.CronJob]
	notified <-chan struct{}
}

func (r cronJobsLate) Informer() cache.SharedIndexInformer {
	return informerLate{r.Resource.Informer(), r.notified}
}

type informerLate struct {
	cache.SharedIndexInformer
	notified <-chan struct{}
}

func (i informerLate) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(handlerLate{h, i.notified})
}

type handlerLate struct {
	cache.ResourceEventHandler
	notified <-chan struct{}
}

func (h handlerLate) OnUpdate(was, is any) {
	if was.(*batchv1.CronJob).Spec.Schedule != is.(*batchv1.CronJob).Spec.Schedule {
		<-h.notified
	}
	h.ResourceEventHandler.OnUpdate(was, is)
}
