package scenario_test

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// aScheduledJob is a ScheduledJob named "scheduled" without a schedule, whose runs have one pod and one try; options make
// it another.
func aScheduledJob(options ...func(*stintv1.ScheduledJob)) *stintv1.ScheduledJob {
	template := aJob().Spec.Template
	o := &stintv1.ScheduledJob{
		ObjectMeta: metav1.ObjectMeta{Name: "scheduled"},
		Spec:       stintv1.ScheduledJobSpec{Template: &template, MaxRestart: ptr.To[int32](0)},
	}
	changing(options...)(o)
	return o
}

// every sets a schedule all of whose due times become runs.
func every(timeSpec string) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) {
		o.Spec.Schedule = &stintv1.Schedule{TimeSpec: timeSpec, SkipOutdated: ptr.To(false)}
	}
}

// past is an interval of n runs that are long over: nothing becomes due before the scenario calls fallDue.
func past(n int) func(*stintv1.ScheduledJob) {
	start := time.Now().UTC().Truncate(time.Minute).Add(-10 * time.Hour)
	return every(fmt.Sprintf("R%d/%s/PT1M", n, start.Format(time.RFC3339)))
}

func skipsOutdated(o *stintv1.ScheduledJob) { o.Spec.Schedule.SkipOutdated = ptr.To(true) }

func blocksOnFailure(o *stintv1.ScheduledJob) { o.Spec.Schedule.BlockOnFailure = ptr.To(true) }

func pausedSchedule(o *stintv1.ScheduledJob) { o.Spec.Suspend = ptr.To(true) }

func resumedSchedule(o *stintv1.ScheduledJob) { o.Spec.Suspend = ptr.To(false) }

func podCount(n int32) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) { o.Spec.PodCount = &n }
}

func maxRestart(n int32) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) { o.Spec.MaxRestart = &n }
}

func execTimeout(seconds int64) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) { o.Spec.ExecTimeout = &seconds }
}

func templateRef(name string) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) {
		o.Spec.Template, o.Spec.TemplateRef = nil, &corev1.LocalObjectReference{Name: name}
	}
}

// podsThat changes the template of the pods.
func podsThat(change func(*corev1.PodTemplateSpec)) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) { change(o.Spec.Template) }
}

func keepsJobs(successful, failed int32) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) {
		o.Spec.SuccessfulJobsHistoryLimit, o.Spec.FailedJobsHistoryLimit = &successful, &failed
	}
}

func remembers(n int32) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) { o.Spec.CompletedExecutionsHistoryLimit = &n }
}

// runs compares what the status says of runs, in words. What is zero or empty is left out:
//
//	pending=a,b running=c completed=d,e! count=3 skipped=1 Blocked(RunFailed) Suspended(Suspended)
//
// An exclamation mark is for a run that failed. Conditions that are false are left out.
func runs(want string) func(*stintv1.ScheduledJob) string {
	return func(o *stintv1.ScheduledJob) string {
		if got := scheduledInWords(o); got != want {
			return fmt.Sprintf("exactly\n\t%s\nnot\n\t%s", want, got)
		}
		return ""
	}
}

func scheduledInWords(o *stintv1.ScheduledJob) string {
	var words []string
	list := func(what string, l []stintv1.Execution) {
		var tags []string
		for _, e := range l {
			tag := e.Tag
			if !ptr.Deref(e.Success, true) {
				tag += "!"
			}
			tags = append(tags, tag)
		}
		if len(tags) > 0 {
			words = append(words, what+"="+strings.Join(tags, ","))
		}
	}
	list("pending", o.Status.PendingExecutions)
	list("running", o.Status.RunningExecutions)
	list("completed", o.Status.CompletedExecutions)
	number := func(what string, n int64) {
		if n != 0 {
			words = append(words, fmt.Sprintf("%s=%d", what, n))
		}
	}
	number("count", o.Status.ScheduleCount)
	number("skipped", o.Status.SkippedCount)
	for _, kind := range []string{stintv1.ConditionBlocked, stintv1.ConditionSuspended} {
		if c := meta.FindStatusCondition(o.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionTrue {
			words = append(words, fmt.Sprintf("%s(%s)", kind, c.Reason))
		}
	}
	return strings.Join(words, " ")
}

// takenUp checks that the controller has observed the schedule.
func takenUp(o *stintv1.ScheduledJob) string {
	of := o.Status.Schedule
	if of == nil || o.Spec.Schedule == nil || of.TimeSpec != o.Spec.Schedule.TimeSpec || o.Status.ObservedGeneration != o.Generation {
		return "the schedule taken up"
	}
	return ""
}

// waitsBecause checks why a pending run waits.
func waitsBecause(tag, reason string) func(*stintv1.ScheduledJob) string {
	return func(o *stintv1.ScheduledJob) string {
		if e := execution(o.Status.PendingExecutions, tag); e == nil || e.Reason != reason {
			return fmt.Sprintf("run %s waits because of %s", tag, reason)
		}
		return ""
	}
}

// next checks when the schedule is due next.
func next(at *time.Time) func(*stintv1.ScheduledJob) string {
	return func(o *stintv1.ScheduledJob) string {
		got := o.Status.NextScheduleTime
		if (got == nil) != (at == nil) || got != nil && !got.Time.Equal(*at) {
			return fmt.Sprintf("nextScheduleTime %v, not %v", at, got)
		}
		return ""
	}
}
