package model_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	core "github.com/stint-dev/stint/internal/cronjob"
	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

func aCronJob(schedule string) *wrappers.CronJobWrapper {
	return wrappers.MakeCronJob(name, schedule).Namespace(namespace)
}

func drawCronJob(t *rapid.T) *batchv1.CronJob {
	schedule := rapid.SampledFrom([]string{"@every 1s", "@every 7s", "@every 90s", "* * * * *", "*/5 * * * *"}).Draw(t, "schedule")
	policy := rapid.SampledFrom([]batchv1.ConcurrencyPolicy{
		batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}).Draw(t, "policy")
	return aCronJob(schedule).ConcurrencyPolicy(policy).
		HistoryLimits(rapid.Int32Range(0, 2).Draw(t, "successful"), rapid.Int32Range(0, 2).Draw(t, "failed")).Obj()
}

func (w *world) actions() map[string]func(*rapid.T) {
	return w.Actions(w.start,
		simulated.Action{Times: 2, Name: "time", Do: func(t *rapid.T) {
			w.Pass(time.Duration(rapid.IntRange(3, 200).Draw(t, "seconds")) * time.Second)
		}},
		simulated.Action{Times: 4, Name: "a Job ends", Do: w.endOne},
		simulated.Action{Times: 2, Name: "user", Do: w.userActs})
}

func (w *world) endOne(t *rapid.T) {
	running := w.running()
	if len(running) == 0 {
		t.Skip("nothing runs")
	}
	w.end(rapid.SampledFrom(running).Draw(t, "job"), rapid.Bool().Draw(t, "succeeds"))
}

func (w *world) userActs(t *rapid.T) {
	switch rapid.SampledFrom([]string{"run", "run", "run", "suspend", "delete"}).Draw(t, "what") {
	case "run":
		w.runNow()
	case "suspend":
		w.setSuspend(!*w.cj().Spec.Suspend)
	case "delete":
		simulated.DeleteOne(w.World, t, w.jobs)
	}
}

// runNow creates a run on demand, as kubectl create job --from does.
func (w *world) runNow() {
	j := wrappers.MakeJob(fmt.Sprintf("manual-%d", len(w.ledger.runs))).Namespace(namespace).
		Annotation("cronjob.kubernetes.io/instantiate", "manual").OwnerReferences(*metav1.NewControllerRef(w.cj(), core.Kind)).Obj()
	w.Logf("user creates Job %s", j.Name)
	if _, err := w.jobs.Create(j); err != nil {
		w.Fail("running now: %v", err)
	}
}
