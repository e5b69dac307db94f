package model_test

import (
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/client/simulated"
	core "github.com/stint-dev/stint/internal/cronjob"
)

func jobSpec() batchv1.JobSpec {
	return batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}
}

func drawCronJob(t *rapid.T) *batchv1.CronJob {
	return &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: batchv1.CronJobSpec{
		Schedule: rapid.SampledFrom([]string{"@every 1s", "@every 7s", "@every 90s", "* * * * *", "*/5 * * * *"}).Draw(t, "schedule"),
		ConcurrencyPolicy: rapid.SampledFrom([]batchv1.ConcurrencyPolicy{
			batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}).Draw(t, "policy"),
		SuccessfulJobsHistoryLimit: ptr.To(rapid.Int32Range(0, 2).Draw(t, "successful")),
		FailedJobsHistoryLimit:     ptr.To(rapid.Int32Range(0, 2).Draw(t, "failed")),
		JobTemplate:                batchv1.JobTemplateSpec{Spec: jobSpec()},
	}}
}

// one in n.
func one(t *rapid.T, n int, what string) bool { return rapid.IntRange(1, n).Draw(t, what) == 1 }

// actions are all that may happen at any moment. Those with several entries happen that much more often.
func (w *world) actions() map[string]func(*rapid.T) {
	weights := []struct {
		times int
		name  string
		do    func(*rapid.T)
	}{
		{4, "serve a request", w.serveOne},
		{4, "serve all requests", w.serveAll},
		{4, "bring news", w.bringNews},
		{2, "rest", func(*rapid.T) { w.Rest() }},
		{3, "a moment", func(t *rapid.T) {
			w.Pass(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond)
		}},
		{2, "time", func(t *rapid.T) { w.Pass(time.Duration(rapid.IntRange(3, 200).Draw(t, "seconds")) * time.Second) }},
		{4, "a Job ends", w.endOne},
		{2, "user", w.userActs},
		{1, "controller", w.happenToController},
		{1, "watch", w.happenToWatch},
	}
	all := map[string]func(*rapid.T){}
	for _, x := range weights {
		for n := range x.times {
			all[x.name+" "+strconv.Itoa(n)] = x.do
		}
	}
	return all
}

func drawFault(t *rapid.T, r *simulated.Request) simulated.Fault {
	if !one(t, 5, "fault") {
		return simulated.NoFault
	}
	faults := simulated.Faults
	if r.Verb == "create" {
		faults = append([]simulated.Fault{simulated.Quota}, faults...)
	}
	return rapid.SampledFrom(faults).Draw(t, "which")
}

func (w *world) serveOne(t *rapid.T) {
	waiting := w.Waiting()
	if len(waiting) == 0 {
		t.Skip("no requests")
	}
	r := rapid.SampledFrom(waiting).Draw(t, "request")
	w.Serve(r, drawFault(t, r))
}

func (w *world) serveAll(t *rapid.T) {
	for n := rapid.IntRange(1, 30).Draw(t, "requests"); n > 0 && len(w.Waiting()) > 0; n-- {
		r := w.Waiting()[0]
		w.Serve(r, drawFault(t, r))
	}
}

func (w *world) drawProcess(t *rapid.T) *simulated.Process {
	if len(w.Processes) == 0 {
		t.Skip("no controller")
	}
	return rapid.SampledFrom(w.Processes).Draw(t, "controller")
}

func (w *world) bringNews(t *rapid.T) {
	feed := rapid.SampledFrom(w.drawProcess(t).Feeds()).Draw(t, "of")
	n := rapid.IntRange(1, 6).Draw(t, "news")
	late := one(t, 3, "handlers late")
	feed.Show(n)
	w.Say("a controller is shown %d changes; the handlers hear of all: %t", n, !late)
	for tell := map[bool]int{true: 1, false: n}[late]; tell > 0; tell-- {
		feed.Tell(1)
		w.Pause()
	}
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
		w.deleteJob(t)
	}
}

// runNow does what kubectl create job --from does.
func (w *world) runNow() {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("manual-%d", len(w.ledger.runs)),
		Annotations:     map[string]string{"cronjob.kubernetes.io/instantiate": "manual"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(w.cj(), core.Kind)}}, Spec: jobSpec()}
	w.Say("user creates Job %s", j.Name)
	if _, err := w.jobs.Create(j); err != nil {
		w.Fail("running now: %v", err)
	}
}

func (w *world) deleteJob(t *rapid.T) {
	jobs := w.jobs.All()
	if len(jobs) == 0 {
		t.Skip("no Jobs")
	}
	j := rapid.SampledFrom(jobs).Draw(t, "job")
	w.Say("user deletes Job %s", j.Name)
	if err := w.jobs.Delete(namespace, j.Name, j.UID, client.DeleteOptions{}); err != nil {
		w.Fail("deleting: %v", err)
	}
}

func (w *world) happenToController(t *rapid.T) {
	what := rapid.SampledFrom([]string{"start", "kill", "kill", "leave", "hand over"}).Draw(t, "what")
	switch {
	case len(w.Processes) == 0:
		w.start()
	case w.Processes[0].Leaving() || what == "start":
		t.Skip("a controller runs")
	case what == "kill":
		w.Kill(w.Processes[0], func(*simulated.Request) bool { return rapid.Bool().Draw(t, "comes to pass") })
	case what == "leave":
		w.Leave(w.Processes[0])
	case what == "hand over":
		// The next one begins when the last write of the one before is done: that is the lease's affair.
		w.Leave(w.Processes[0])
		for len(w.Waiting()) > 0 {
			w.Serve(w.Waiting()[0], drawFault(t, w.Waiting()[0]))
		}
		w.start()
	}
}

func (w *world) happenToWatch(t *rapid.T) {
	feed := rapid.SampledFrom(w.drawProcess(t).Feeds()).Draw(t, "of")
	if rapid.Bool().Draw(t, "broken") {
		w.Say("a watch breaks")
		feed.Relist()
	} else {
		w.Say("a controller is told everything again")
		feed.Repeat()
	}
	w.Pause()
}
