package model_test

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

// spec are the fields of a ScheduledJob that the tests vary.
type spec struct {
	keepAll, block, concurrent   bool
	successful, failed, complete int32
}

func scheduledJob(timeSpec string, s spec) *stintv1.ScheduledJob {
	return wrappers.MakeScheduledJob(name).Namespace(namespace).TimeSpec(timeSpec).With(func(sj *stintv1.ScheduledJob) {
		sj.Spec.Schedule.SkipOutdated, sj.Spec.Schedule.BlockOnFailure = ptr.To(!s.keepAll), &s.block
		sj.Spec.AllowConcurrentRun, sj.Spec.CompletedExecutionsHistoryLimit = &s.concurrent, &s.complete
		sj.Spec.SuccessfulJobsHistoryLimit, sj.Spec.FailedJobsHistoryLimit = &s.successful, &s.failed
	}).Obj()
}

func drawScheduledJob(t *rapid.T) *stintv1.ScheduledJob {
	timeSpec := rapid.SampledFrom([]string{"R//PT1S", "R//PT7S", "R5//PT3S", "R40//PT2S", "R//PT1M", "@every 5s", "* * * * *"}).Draw(t, "timeSpec")
	return scheduledJob(timeSpec, spec{
		keepAll: rapid.Bool().Draw(t, "keep all"), block: rapid.Bool().Draw(t, "block"), concurrent: simulated.OneIn(t, 3, "concurrent"),
		successful: rapid.Int32Range(0, 2).Draw(t, "successful"), failed: rapid.Int32Range(0, 2).Draw(t, "failed"),
		complete: rapid.SampledFrom([]int32{0, 1, 3, 20}).Draw(t, "complete"),
	})
}

func (w *world) actions() map[string]func(*rapid.T) {
	return w.Actions(w.start,
		simulated.Action{Times: 1, Name: "time", Do: func(t *rapid.T) {
			w.Pass(time.Duration(rapid.IntRange(3, 200).Draw(t, "seconds")) * time.Second)
		}},
		simulated.Action{Times: 4, Name: "a Job ends", Do: w.endOne},
		simulated.Action{Times: 2, Name: "user", Do: w.userActs})
}

func (w *world) endOne(t *rapid.T) {
	running := w.unfinished()
	if len(running) == 0 {
		t.Skip("nothing runs")
	}
	j := rapid.SampledFrom(running).Draw(t, "job")
	code := rapid.SampledFrom([]int32{0, 0, 1, 42}).Draw(t, "code")
	w.end(j, code)
}

func (w *world) userActs(t *rapid.T) {
	switch rapid.SampledFrom([]string{"ask", "ask", "ask", "suspend", "resume", "delete"}).Draw(t, "what") {
	case "ask":
		w.request(t)
	case "suspend":
		w.setSuspend(!ptr.Deref(w.sj().Spec.Suspend, false))
	case "resume":
		w.unblock()
	case "delete":
		simulated.DeleteOne(w.World, t, w.jobs)
	}
}

// request requests a new run on demand, at any place of the queue.
func (w *world) request(t *rapid.T) {
	tag := fmt.Sprintf("m%d", len(w.ledger.requested))
	at := rapid.IntRange(0, len(w.sj().Status.PendingExecutions)).Draw(t, "at")
	w.Logf("user asks for run %s, in place %d", tag, at)
	w.ledger.requested[tag] = true
	if _, err := w.scheduledJobs.EditStatus(namespace, name, func(sj *stintv1.ScheduledJob) {
		rest := append([]stintv1.Execution{{Tag: tag}}, sj.Status.PendingExecutions[at:]...)
		sj.Status.PendingExecutions = append(sj.Status.PendingExecutions[:at:at], rest...)
	}); err != nil {
		w.Fail("asking: %v", err)
	}
}
