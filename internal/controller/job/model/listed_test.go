package model_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

// A controller whose last request is still in progress creates a pod that the next controller knows from a live list, but not
// yet from its informer.
func TestAPodThatOnlyALiveListShowsIsDeletedIfItIsNotNeeded(t *testing.T) {
	for name, c := range map[string]struct {
		job               *wrappers.JobWrapper
		happens           func(*world)
		succeeded, failed int32
		reason            string
	}{
		"both controllers create a pod": {
			job: aJob(), happens: func(*world) {}, succeeded: 1, failed: 1,
		},
		"the last failure is one too many": {
			job:     aJob().Completions(2).Parallelism(2).BackoffLimit(1),
			happens: func(w *world) { w.exit(w.activePods()[0], 1) },
			failed:  3, reason: batchv1.JobReasonBackoffLimitExceeded,
		},
		"the deadline passes": {
			job:     aJob().Completions(2).Parallelism(2).ActiveDeadlineSeconds(60),
			happens: func(w *world) { w.Pass(time.Minute) },
			failed:  3, reason: batchv1.JobReasonDeadlineExceeded,
		},
	} {
		t.Run(name, func(t *testing.T) {
			mustPlay(t, func(w *world) {
				w.begin(c.job)
				w.exitWith(1)
				w.serveUntil("create pod")
				w.Stop(w.Processes[0])
				c.happens(w)
				w.start(0, 0)
				next := w.process(1)
				w.Serve(w.Waiting()[0], simulated.NoFault)
				made := w.activePods()[len(w.activePods())-1]
				w.Work()
				w.Pass(time.Second)
				w.Work()
				if f := w.ledger.fates[made.UID]; f.deletedBy != next {
					w.Fail("pod %s is not deleted", made.Name)
				}
				if _, cached, _ := next.pods.GetStore().Get(made); cached {
					w.Fail("pod %s is cached", made.Name)
				}
				w.settle()
				j := w.theJob()
				if s := j.Status; s.Succeeded != c.succeeded || s.Failed != c.failed || reason(j, batchv1.JobFailed) != c.reason {
					w.Fail("want %d succeeded and %d failed pods and reason %q", c.succeeded, c.failed, c.reason)
				}
			})
		})
	}
}
