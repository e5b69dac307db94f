package model_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	cronjobregistry "github.com/stint-dev/stint/internal/apiserver/registry/cronjob"
	jobregistry "github.com/stint-dev/stint/internal/apiserver/registry/job"
	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	jobcore "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/simulated"
)

const (
	namespace = "ns"
	name      = "cj"
)

// world is a server with one CronJob and its Jobs, and a ledger of its runs.
type world struct {
	*simulated.World
	cronJobs *simulated.Table[*batchv1.CronJob]
	jobs     *simulated.Table[*batchv1.Job]
	ledger   *ledger
}

func newWorld(sw *simulated.World) *world {
	o := podregistry.Options{}
	w := &world{World: sw,
		cronJobs: simulated.NewTable[*batchv1.CronJob](sw.Server, cronjobregistry.Resource(o)),
		jobs:     simulated.NewTable[*batchv1.Job](sw.Server, jobregistry.Resource(o)),
	}
	w.ledger = &ledger{world: w, runs: map[string]*run{}}
	w.cronJobs.Wrote, w.jobs.Wrote = w.ledger.wroteCronJob, w.ledger.wroteJob
	w.Describe = w.describe
	return w
}

// connection is the Client of one process.
type connection struct {
	cronJobs client.Resource[*batchv1.CronJob]
	jobs     client.Resource[*batchv1.Job]
}

func (c connection) CronJobs() client.Resource[*batchv1.CronJob] { return c.cronJobs }
func (c connection) Jobs() client.Resource[*batchv1.Job]         { return c.jobs }

func (w *world) start() {
	w.Start(func(p *simulated.Process) func(context.Context) error {
		return cronjob.New(connection{simulated.Of(p, w.cronJobs), simulated.Of(p, w.jobs)}, p, cronjob.Options{}).Run
	})
}

func (w *world) create(cj *batchv1.CronJob) {
	made, err := w.cronJobs.Create(cj)
	if err != nil {
		w.Fail("the CronJob is not valid: %v", err)
	}
	s := made.Spec
	w.Logf("user creates a CronJob: %s %s limits %d %d", s.Schedule, s.ConcurrencyPolicy, *s.SuccessfulJobsHistoryLimit, *s.FailedJobsHistoryLimit)
}

func (w *world) cj() *batchv1.CronJob {
	cj, err := w.cronJobs.Get(namespace, name)
	if err != nil {
		w.Fail("the CronJob is gone: %v", err)
	}
	return cj
}

// end writes the status of a Job as a Job controller does when it finishes.
func (w *world) end(j *batchv1.Job, succeeds bool) {
	w.Logf("Job %s ends: %t", j.Name, succeeds)
	now := metav1.Now()
	kinds := []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
	if succeeds {
		kinds = []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
	}
	_, err := w.jobs.EditStatus(namespace, j.Name, func(j *batchv1.Job) {
		j.Status.StartTime, j.Status.UncountedTerminatedPods = ptr.To(j.CreationTimestamp), &batchv1.UncountedTerminatedPods{}
		if succeeds {
			j.Status.CompletionTime = &now
		}
		for _, kind := range kinds {
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
				Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now, LastProbeTime: now})
		}
	})
	if err != nil {
		w.Fail("the status of %s: %v", j.Name, err)
	}
}

// finishAll ends all faults, finishes all Jobs until nothing is left to do, and checks the result.
func (w *world) finishAll() {
	w.Recover(w.start)
	if *w.cj().Spec.Suspend {
		w.setSuspend(false)
	}
	for range 500 {
		w.RunUntilIdle()
		running := w.running()
		for _, j := range running {
			w.end(j, true)
		}
		if len(running) == 0 && w.ledger.isDone() {
			w.checkEvents()
			return
		}
		if len(running) == 0 {
			// Requests that failed are retried after a delay.
			w.Pass(time.Second)
		}
	}
	w.Fail("the runs do not come to their ends, or their Jobs stay")
}

// checkEvents expects that no process records MissingJob for a Job that it has deleted itself.
func (w *world) checkEvents() {
	for _, p := range w.Processes {
		deleted := map[string]bool{}
		for _, e := range p.Events() {
			switch e.Reason {
			case "SuccessfulDelete":
				deleted[strings.TrimPrefix(e.Message, "Deleted job ")] = true
			case "MissingJob":
				if job := strings.TrimPrefix(e.Message, "Active job went missing: "); deleted[job] {
					w.Fail("%s is deleted, and MissingJob is recorded", job)
				}
			}
		}
	}
}

// running are the Jobs that are neither finished nor held.
func (w *world) running() (list []*batchv1.Job) {
	for _, j := range w.jobs.All() {
		if !ended(j) && !held(j) {
			list = append(list, j)
		}
	}
	return list
}

func (w *world) setSuspend(on bool) {
	w.Logf("user sets suspend to %t", on)
	if _, err := w.cronJobs.Update(namespace, name, func(cj *batchv1.CronJob) { cj.Spec.Suspend = &on }); err != nil {
		w.Fail("suspend: %v", err)
	}
}

func ended(j *batchv1.Job) bool { return len(j.Status.Conditions) > 0 }

func held(j *batchv1.Job) bool {
	return j.Annotations[jobcore.HeldAnnotation] != "" && ptr.Deref(j.Spec.Suspend, false)
}

func (w *world) describe() string {
	var b strings.Builder
	for _, cj := range w.cronJobs.All() {
		fmt.Fprintf(&b, "%s: last due %v, active %v\n", cj.Name, cj.Status.LastScheduleTime, cj.Status.Active)
	}
	for _, j := range w.jobs.All() {
		fmt.Fprintf(&b, "job %s %s created %v ended=%t held=%t\n", j.Name, j.UID, j.CreationTimestamp.UTC(), ended(j), held(j))
	}
	return b.String()
}
