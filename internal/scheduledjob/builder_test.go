package scheduledjob

import (
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/wrappers"
)

// noon is when the ScheduledJobs of tests are created.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is this many seconds after noon.
func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// tagAt is the tag of the run that is due this many seconds after noon.
func tagAt(seconds int) string { return dueTag(at(seconds)) }

type change = func(*stintv1.ScheduledJob)

// every is a ScheduledJob with a run every so many seconds without end, the first at noon.
func every(seconds int, changes ...change) *stintv1.ScheduledJob {
	timeSpec := "R//PT" + (time.Duration(seconds) * time.Second).String()
	return aScheduledJob(append([]change{timed(upper(timeSpec))}, changes...)...)
}

// aScheduledJob is a ScheduledJob without a schedule, changed by changes.
func aScheduledJob(changes ...change) *stintv1.ScheduledJob {
	return wrappers.MakeScheduledJob("report").Namespace("ns").UID("sj-uid").Generation(1).CreationTimestamp(metav1.NewTime(noon)).
		Containers("main").With(changes...).Obj()
}

func timed(timeSpec string) change {
	return func(sj *stintv1.ScheduledJob) { sj.Spec.Schedule = &stintv1.Schedule{TimeSpec: timeSpec} }
}

func oneAtATime(sj *stintv1.ScheduledJob)      { sj.Spec.AllowConcurrentRun = ptr.To(false) }
func keepingOutdated(sj *stintv1.ScheduledJob) { sj.Spec.Schedule.SkipOutdated = ptr.To(false) }
func blocking(sj *stintv1.ScheduledJob)        { sj.Spec.Schedule.BlockOnFailure = ptr.To(true) }
func suspending(sj *stintv1.ScheduledJob)      { sj.Spec.Suspend = ptr.To(true) }

// requested adds a run on demand.
func requested(tag string) change {
	return func(sj *stintv1.ScheduledJob) {
		sj.Status.PendingExecutions = append(sj.Status.PendingExecutions, stintv1.Execution{Tag: tag})
	}
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// jobOf is the Job of a run, created this many seconds after noon.
func jobOf(sj *stintv1.ScheduledJob, tag string, seconds int, changes ...func(*batchv1.Job)) *batchv1.Job {
	job, err := BuildJob(sj, sj.Spec.Template, stintv1.Execution{Tag: tag})
	if err != nil {
		panic(err)
	}
	return wrappers.FromJob(job).UID(types.UID("uid-" + tag)).CreationTimestamp(metav1.NewTime(at(seconds))).With(changes...).Obj()
}

func completeAt(seconds int) func(*batchv1.Job) {
	return withEnd(batchv1.JobComplete, "CompletionsReached", "Reached expected number of succeeded pods", seconds)
}

func failedAt(seconds int) func(*batchv1.Job) {
	return withEnd(batchv1.JobFailed, "FailedIndexes", "Job has failed indexes", seconds)
}

func withEnd(kind batchv1.JobConditionType, reason, message string, seconds int) func(*batchv1.Job) {
	return func(job *batchv1.Job) {
		wrappers.FromJob(job).ConditionSince(metav1.NewTime(at(seconds)), kind, reason, message)
	}
}

// observe is an observation made this many seconds after noon.
func observe(sj *stintv1.ScheduledJob, seconds int, jobs ...*batchv1.Job) Observation {
	return Observation{ScheduledJob: sj, Jobs: jobs, Template: sj.Spec.Template, Now: at(seconds)}
}

// created are the outcomes of a decision whose Jobs are all created, at the time now.
func created(d Decision, now time.Time) []Outcome {
	var outcomes []Outcome
	for i, job := range d.Create {
		job = job.DeepCopy()
		job.UID, job.CreationTimestamp = types.UID("uid-"+d.starts[i]), metav1.NewTime(now)
		outcomes = append(outcomes, Outcome{Job: job})
	}
	return outcomes
}

func tags(list []stintv1.Execution) []string {
	var all []string
	for _, e := range list {
		all = append(all, e.Tag)
	}
	return all
}

func diff(a, b any) string { return cmp.Diff(a, b) }

// describe returns a container's env and args as text.
func describe(c corev1.Container) string {
	s := ""
	for _, v := range c.Env {
		s += v.Name + "=" + v.Value + " "
	}
	return s + fmt.Sprint(c.Args)
}
