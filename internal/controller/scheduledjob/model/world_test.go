package model_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver/registry"
	jobregistry "github.com/stint-dev/stint/internal/apiserver/registry/job"
	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
	scheduledjobregistry "github.com/stint-dev/stint/internal/apiserver/registry/scheduledjob"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	jobcore "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

const (
	namespace = "ns"
	name      = "sj"
)

// world is a server with one ScheduledJob, its Jobs and their pods, and a ledger of its runs.
type world struct {
	*simulated.World
	scheduledJobs *simulated.Table[*stintv1.ScheduledJob]
	jobs          *simulated.Table[*batchv1.Job]
	pods          *simulated.Table[*corev1.Pod]
	templates     *simulated.Table[*corev1.PodTemplate]
	ledger        *ledger
}

func newWorld(sw *simulated.World) *world {
	o := podregistry.Options{}
	w := &world{World: sw,
		scheduledJobs: simulated.NewTable[*stintv1.ScheduledJob](sw.Server, scheduledjobregistry.Resource(o)),
		jobs:          simulated.NewTable[*batchv1.Job](sw.Server, jobregistry.Resource(o)),
		pods:          simulated.NewTable[*corev1.Pod](sw.Server, podregistry.Resource(o)),
		templates:     simulated.NewTable[*corev1.PodTemplate](sw.Server, registry.PodTemplate(o)),
	}
	w.ledger = &ledger{world: w, runs: map[string]*run{}, requested: map[string]bool{}}
	w.scheduledJobs.Wrote, w.jobs.Wrote = w.ledger.wroteScheduledJob, w.ledger.wroteJob
	w.Describe = w.describe
	return w
}

// connection is the Client of one process.
type connection struct {
	scheduledJobs client.Resource[*stintv1.ScheduledJob]
	jobs          client.Resource[*batchv1.Job]
	pods          client.Resource[*corev1.Pod]
	templates     client.Resource[*corev1.PodTemplate]
}

func (c connection) ScheduledJobs() client.Resource[*stintv1.ScheduledJob] { return c.scheduledJobs }
func (c connection) Jobs() client.Resource[*batchv1.Job]                   { return c.jobs }
func (c connection) Pods() client.Resource[*corev1.Pod]                    { return c.pods }
func (c connection) PodTemplates() client.Resource[*corev1.PodTemplate]    { return c.templates }

func (w *world) start() {
	w.Start(func(p *simulated.Process) func(context.Context) error {
		return scheduledjob.New(connection{simulated.Of(p, w.scheduledJobs), simulated.Of(p, w.jobs),
			simulated.Of(p, w.pods), simulated.Of(p, w.templates)}, p, scheduledjob.Options{}).Run
	})
}

func (w *world) create(sj *stintv1.ScheduledJob) {
	made, err := w.scheduledJobs.Create(sj)
	if err != nil {
		w.Fail("the ScheduledJob is not valid: %v", err)
	}
	s := made.Spec
	w.Logf("user creates a ScheduledJob: %s skipOutdated=%t blockOnFailure=%t allowConcurrentRun=%t limits %d %d %d", s.Schedule.TimeSpec,
		*s.Schedule.SkipOutdated, *s.Schedule.BlockOnFailure, *s.AllowConcurrentRun,
		*s.SuccessfulJobsHistoryLimit, *s.FailedJobsHistoryLimit, *s.CompletedExecutionsHistoryLimit)
}

func (w *world) sj() *stintv1.ScheduledJob {
	sj, err := w.scheduledJobs.Get(namespace, name)
	if err != nil {
		w.Fail("the ScheduledJob is gone: %v", err)
	}
	return sj
}

// serveUntil serves requests without faults, until one with this verb waits or none does. Informers show nothing new meanwhile.
func (w *world) serveUntil(verb string) {
	for len(w.Waiting()) > 0 && w.Waiting()[0].Verb != verb {
		w.Serve(w.Waiting()[0], simulated.NoFault)
	}
}

// end ends a Job as a node and a Job controller do: first its pod terminates, then the Job finishes.
func (w *world) end(j *batchv1.Job, code int32) {
	w.Logf("Job %s ends with %d", j.Name, code)
	w.ledger.runs[j.Labels[stintv1.LabelJobTag]].code = code
	kinds := []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
	if code != 0 {
		kinds = []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
	}
	pod, err := w.pods.Create(wrappers.MakePodOf(j, "pod-of-"+string(j.UID)).Index(0).Obj())
	if err == nil {
		_, err = w.pods.EditStatus(namespace, pod.Name, func(p *corev1.Pod) { wrappers.FromPod(p).Exited(code, metav1.Now()) })
	}
	if err != nil {
		w.Fail("the pod of %s: %v", j.Name, err)
	}
	now := metav1.Now()
	for _, kind := range kinds {
		_, err = w.jobs.EditStatus(namespace, j.Name, func(j *batchv1.Job) {
			j.Status.StartTime = ptr.To(j.CreationTimestamp)
			j.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
			if code == 0 {
				j.Status.Succeeded, j.Status.CompletedIndexes = 1, "0"
				if kind == batchv1.JobComplete {
					j.Status.CompletionTime = &now
				}
			} else {
				j.Status.Failed, j.Status.FailedIndexes = 1, ptr.To("0")
			}
			j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
				Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now, LastProbeTime: now, Reason: "Test", Message: "so it is"})
		})
		if err != nil {
			w.Fail("the status of %s: %v", j.Name, err)
		}
	}
}

// finishAll ends all faults, finishes all Jobs until nothing is left to do, and checks the result.
func (w *world) finishAll() {
	w.Recover(w.start)
	if ptr.Deref(w.sj().Spec.Suspend, false) {
		w.setSuspend(false)
	}
	for range 2000 {
		w.RunUntilIdle()
		running := w.unfinished()
		if len(running) > 0 {
			for _, j := range running {
				w.end(j, 0)
			}
			continue
		}
		if w.unblock() {
			continue
		}
		if w.ledger.upToDate() && w.ledger.withinLimits() {
			w.ledger.checkEnd()
			return
		}
		// Requests that failed are retried after a delay.
		w.Pass(time.Second)
	}
	w.Fail("the runs do not come to their ends, or their Jobs stay")
}

func (w *world) unfinished() (list []*batchv1.Job) {
	for _, j := range w.jobs.All() {
		if !jobcore.Finished(j) {
			list = append(list, j)
		}
	}
	return list
}

func (w *world) setSuspend(on bool) {
	w.Logf("user sets suspend to %t", on)
	if _, err := w.scheduledJobs.Update(namespace, name, func(sj *stintv1.ScheduledJob) { sj.Spec.Suspend = &on }); err != nil {
		w.Fail("suspend: %v", err)
	}
}

// unblock resumes a blocked schedule, as a user does.
func (w *world) unblock() bool {
	blocked := func(c metav1.Condition) bool {
		return c.Type == stintv1.ConditionBlocked && c.Status == metav1.ConditionTrue
	}
	if !slices.ContainsFunc(w.sj().Status.Conditions, blocked) {
		return false
	}
	w.Logf("user resumes the schedule")
	if _, err := w.scheduledJobs.EditStatus(namespace, name, func(sj *stintv1.ScheduledJob) {
		sj.Status.Conditions = slices.DeleteFunc(sj.Status.Conditions, blocked)
	}); err != nil {
		w.Fail("resume: %v", err)
	}
	return true
}

func (w *world) describe() string {
	var b strings.Builder
	for _, sj := range w.scheduledJobs.All() {
		s := sj.Status
		fmt.Fprintf(&b, "%s: %d started, %d skipped, last due %v\n", sj.Name, s.ScheduleCount, s.SkippedCount, s.LastScheduleTime)
		for what, list := range map[string][]stintv1.Execution{"pending": s.PendingExecutions, "running": s.RunningExecutions, "completed": s.CompletedExecutions} {
			for _, e := range list {
				fmt.Fprintf(&b, "  %s %s %s %s success=%v\n", what, e.Tag, e.Reason, e.Message, ptr.Deref(e.Success, false))
			}
		}
	}
	for _, j := range w.jobs.All() {
		fmt.Fprintf(&b, "job %s %s ended=%t\n", j.Name, j.UID, jobcore.Finished(j))
	}
	return b.String()
}
