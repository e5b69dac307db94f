package scheduledjob_test

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/wrappers"
)

func keepAll(s *stintv1.ScheduledJobSpec) { s.Schedule.SkipOutdated = ptr.To(false) }

func oneAtATime(s *stintv1.ScheduledJobSpec) { s.AllowConcurrentRun = ptr.To(false) }

func command(name string) func(*stintv1.ScheduledJobSpec) {
	return func(s *stintv1.ScheduledJobSpec) { s.Template = template(name) }
}

func completed(n int) func(*stintv1.ScheduledJobStatus) bool {
	return func(s *stintv1.ScheduledJobStatus) bool { return len(s.CompletedExecutions) == n }
}

// lists reports whether the status has this many executions of each kind.
func lists(pending, running, done int) func(*stintv1.ScheduledJobStatus) bool {
	return func(s *stintv1.ScheduledJobStatus) bool {
		return len(s.PendingExecutions) == pending && len(s.RunningExecutions) == running && len(s.CompletedExecutions) == done
	}
}

func blocked(s *stintv1.ScheduledJobStatus) bool {
	return meta.IsStatusConditionTrue(s.Conditions, stintv1.ConditionBlocked)
}

// TestLife runs all lives in parallel on one real server.
func TestLife(t *testing.T) {
	shared := start(t, scheduledjob.Options{})
	t.Run("all", func(t *testing.T) {
		for name, play := range lifeTests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				play(shared.in(t))
			})
		}
	})
}

var lifeTests = map[string]func(*env){
	"every due time becomes a run, and its Job has labels and an owner":   dueTimes,
	"runs that may not run beside each other do so one by one, in order":  queue,
	"only the latest of the runs that wait is kept":                       skipOutdated,
	"a failed run blocks the schedule, not a run on demand":               block,
	"a run on demand runs once however often it is asked for":             onDemand,
	"a run on demand may have env and args of its own":                    overrides,
	"a run waits for its PodTemplate":                                     lateTemplate,
	"Jobs go beyond the history limits, their executions stay":            history,
	"Jobs and pods go with the ScheduledJob":                              cascade,
	"a run whose Job is deleted has failed":                               jobDeleted,
	"a run whose Job's name is taken has failed, and the next one starts": nameTaken,
	"suspended, due times pass and runs on demand run":                    suspended,
	"a run lists the exit codes of all its pods":                          exitCodes,
}

func dueTimes(e *env) {
	e.create(newScheduledJob("due", "R3//PT1S", keepAll))
	s := e.until("due", "three runs", completed(3))
	if s.ScheduleCount != 3 || s.SkippedCount != 0 || s.NextScheduleTime != nil {
		e.t.Errorf("%d started, %d skipped, next at %v, want 3, none, none", s.ScheduleCount, s.SkippedCount, s.NextScheduleTime)
	}
	// They may run at the same time, and end in any order.
	runs := slices.SortedFunc(slices.Values(s.CompletedExecutions), byDueTime)
	first := runs[0].DueAt.Time
	for i, run := range runs {
		due := first.Add(time.Duration(i) * time.Second)
		if !run.DueAt.Time.Equal(due) || run.Tag != due.UTC().Format("20060102-150405") || !*run.Success {
			e.t.Errorf("run %d is %+v, want one of %v that succeeded", i, run, due)
		}
		if run.StartedAt.Time.Before(due) {
			e.t.Errorf("run %d started at %v, before it was due", i, run.StartedAt)
		}
	}
	for _, j := range e.jobs("due") {
		ref := metav1.GetControllerOf(&j)
		if ref == nil || ref.APIVersion != "stint.dev/v1" || ref.Kind != "ScheduledJob" || ref.Name != "due" || !*ref.BlockOwnerDeletion {
			e.t.Errorf("Job %s is controlled by %+v", j.Name, ref)
		}
		if tag := j.Labels[stintv1.LabelJobTag]; j.Name != "due-"+tag || j.Spec.Template.Labels[stintv1.LabelJobTag] != tag {
			e.t.Errorf("Job %s has labels %v and %v", j.Name, j.Labels, j.Spec.Template.Labels)
		}
	}
	tag := s.CompletedExecutions[0].Tag
	e.untilEvents("due", "SuccessfulCreate: Created job due-"+tag, "SawCompletedRun: Saw completed run "+tag+", success")
}

func byDueTime(a, b stintv1.Execution) int { return a.DueAt.Compare(b.DueAt.Time) }

func queue(e *env) {
	e.create(newScheduledJob("queue", "R3//PT1S", keepAll, oneAtATime, command("hold")))
	s := e.until("queue", "one runs, two wait", lists(2, 1, 0))
	want := append(tags(s.RunningExecutions), tags(s.PendingExecutions)...)
	for i, tag := range want {
		s = e.until("queue", "the next one", lists(2-i, 1, i))
		if s.RunningExecutions[0].Tag != tag {
			e.t.Fatalf("%s runs, %s is next", s.RunningExecutions[0].Tag, tag)
		}
		e.finish("queue", tag, corev1.PodSucceeded)
	}
	s = e.until("queue", "all have run", lists(0, 0, 3))
	if diff := cmp.Diff(want, tags(s.CompletedExecutions)); diff != "" || !slices.IsSorted(want) {
		e.t.Errorf("the order was %v: %s", want, diff)
	}
	e.untilEvents("queue", "RunQueued")
}

func skipOutdated(e *env) {
	// One run is running before anything is due, so that all due times have to wait, however many one sync handles.
	e.create(newScheduledJob("skip", "", oneAtATime, command("hold")))
	e.request("skip", "first")
	e.until("skip", "one runs", lists(0, 1, 0))
	e.edit("skip", func(s *stintv1.ScheduledJobSpec) { s.Schedule = &stintv1.Schedule{TimeSpec: "R4//PT1S"} })
	s := e.until("skip", "no due time is left", func(s *stintv1.ScheduledJobStatus) bool {
		return s.NextScheduleTime == nil && s.LastScheduleTime != nil && lists(1, 1, 0)(s)
	})
	if s.SkippedCount != 3 || !s.PendingExecutions[0].DueAt.Equal(s.LastScheduleTime) {
		e.t.Errorf("%d skipped, %+v waits, want 3 and the latest", s.SkippedCount, s.PendingExecutions[0])
	}
	e.untilEvents("skip", "RunsSkipped")
}

func block(e *env) {
	e.create(newScheduledJob("block", "R/2000-01-01T00:00:00Z/PT1S", command("false"), func(s *stintv1.ScheduledJobSpec) {
		s.Schedule.BlockOnFailure, s.MaxRestart = ptr.To(true), ptr.To[int32](0)
	}))
	e.until("block", "blocked, one waits", func(s *stintv1.ScheduledJobStatus) bool { return blocked(s) && len(s.PendingExecutions) == 1 })
	e.edit("block", func(s *stintv1.ScheduledJobSpec) { s.Template = template("true") })
	e.request("block", "by-hand")
	s := e.until("block", "the run on demand has ended", func(s *stintv1.ScheduledJobStatus) bool {
		return slices.ContainsFunc(s.CompletedExecutions, func(x stintv1.Execution) bool { return x.Tag == "by-hand" && *x.Success })
	})
	if !blocked(s) {
		e.t.Error("a run on demand ends the block")
	}
	before := s.ScheduleCount
	e.editStatus("block", func(s *stintv1.ScheduledJobStatus) {
		meta.RemoveStatusCondition(&s.Conditions, stintv1.ConditionBlocked)
	})
	s = e.until("block", "runs start again", func(s *stintv1.ScheduledJobStatus) bool { return s.ScheduleCount > before })
	if blocked(s) {
		e.t.Error("it starts runs and is blocked")
	}
	e.untilEvents("block", "Blocked", "Resumed", "SawCompletedRun")
	e.edit("block", func(s *stintv1.ScheduledJobSpec) { s.Schedule = nil })
}

func onDemand(e *env) {
	e.create(newScheduledJob("demand", ""))
	e.request("demand", "mine")
	s := e.until("demand", "run", completed(1))
	if run := s.CompletedExecutions[0]; run.Tag != "mine" || run.Trigger != stintv1.TriggerManual || run.CreatedAt == nil || run.DueAt != nil {
		e.t.Errorf("it is %+v", run)
	}
	e.request("demand", "second")
	s = e.until("demand", "run again", completed(2))
	if s.ScheduleCount != 2 || s.LastScheduleTime != nil || len(e.jobs("demand")) != 2 {
		e.t.Errorf("%d runs, last due %v, %d Jobs", s.ScheduleCount, s.LastScheduleTime, len(e.jobs("demand")))
	}
}

func overrides(e *env) {
	e.create(newScheduledJob("override", ""))
	e.editStatus("override", func(s *stintv1.ScheduledJobStatus) {
		s.PendingExecutions = []stintv1.Execution{{Tag: "mine", Trigger: stintv1.TriggerManual,
			Overrides: &stintv1.Overrides{Env: []corev1.EnvVar{{Name: "A", Value: "b"}}, Args: []string{"x"}}}}
	})
	e.until("override", "run", completed(1))
	c := e.jobs("override")[0].Spec.Template.Spec.Containers[0]
	if !slices.Contains(c.Env, corev1.EnvVar{Name: "A", Value: "b"}) || !slices.Equal(c.Args, []string{"x"}) {
		e.t.Errorf("the container has env %v and args %v", c.Env, c.Args)
	}
}

func lateTemplate(e *env) {
	e.create(newScheduledJob("late", "R1//PT1S", func(s *stintv1.ScheduledJobSpec) {
		s.Template, s.TemplateRef = nil, &corev1.LocalObjectReference{Name: "late"}
	}))
	e.until("late", "it waits", func(s *stintv1.ScheduledJobStatus) bool {
		return len(s.PendingExecutions) == 1 && s.PendingExecutions[0].Reason == "TemplateNotFound"
	})
	e.untilEvents("late", "TemplateNotFound")
	if _, err := e.client.PodTemplates().Create(context.Background(), &corev1.PodTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: "late", Namespace: e.server.Namespace}, Template: *template("true")}); err != nil {
		e.t.Fatal(err)
	}
	e.until("late", "run", lists(0, 0, 1))
}

func history(e *env) {
	// One at a time, so that they end in order.
	e.create(newScheduledJob("history", "R4//PT1S", keepAll, oneAtATime, func(s *stintv1.ScheduledJobSpec) {
		s.SuccessfulJobsHistoryLimit, s.CompletedExecutionsHistoryLimit = ptr.To[int32](1), ptr.To[int32](3)
	}))
	s := e.until("history", "four runs", func(s *stintv1.ScheduledJobStatus) bool { return s.ScheduleCount == 4 && lists(0, 0, 3)(s) })
	newest := "history-" + s.CompletedExecutions[2].Tag
	await.Until(e.t, "one Job of history", func() bool {
		jobs := e.jobs("history")
		return len(jobs) == 1 && jobs[0].Name == newest
	}, func() string { return "others" })
	e.untilEvents("history", "SuccessfulDelete: Deleted job history-"+s.CompletedExecutions[0].Tag)
}

func cascade(e *env) {
	for name, how := range map[string]metav1.DeletionPropagation{
		"foreground": metav1.DeletePropagationForeground, "background": metav1.DeletePropagationBackground} {
		e.create(newScheduledJob(name, "R/2000-01-01T00:00:00Z/PT1S", command("hold")))
		e.until(name, "it runs", func(s *stintv1.ScheduledJobStatus) bool { return len(s.RunningExecutions) > 0 })
		sj, err := e.client.ScheduledJobs().Get(context.Background(), e.server.Namespace, name)
		if err == nil {
			err = e.client.ScheduledJobs().Delete(context.Background(), sj, client.DeleteOptions{Propagation: how})
		}
		if err != nil {
			e.t.Fatal(err)
		}
		await.Until(e.t, "all of "+name+" to be gone", func() bool {
			_, gone := e.client.ScheduledJobs().Get(context.Background(), e.server.Namespace, name)
			return gone != nil && len(e.podsOf(name))+len(e.jobs(name)) == 0
		}, func() string { return "something is there" })
	}
}

func jobDeleted(e *env) {
	e.create(newScheduledJob("deleted", "R1//PT1S", command("hold")))
	e.until("deleted", "it runs", lists(0, 1, 0))
	background := metav1.DeletePropagationBackground
	if err := e.api.BatchV1().Jobs(e.server.Namespace).Delete(context.Background(), e.jobs("deleted")[0].Name, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		e.t.Fatal(err)
	}
	s := e.until("deleted", "it has ended", lists(0, 0, 1))
	if run := s.CompletedExecutions[0]; *run.Success || run.Reason != "JobDeleted" {
		e.t.Errorf("it is %+v", run)
	}
}

func nameTaken(e *env) {
	job := wrappers.MakeJob("taken-mine").Namespace(e.server.Namespace).NodeName("node").Command("true").Obj()
	if _, err := e.client.Jobs().Create(context.Background(), job); err != nil {
		e.t.Fatal(err)
	}
	e.create(newScheduledJob("taken", "", oneAtATime))
	e.editStatus("taken", func(s *stintv1.ScheduledJobStatus) {
		s.PendingExecutions = []stintv1.Execution{{Tag: "mine"}, {Tag: "next"}}
	})
	s := e.until("taken", "both have ended", lists(0, 0, 2))
	if run := s.CompletedExecutions[0]; *run.Success || run.Reason == "" || run.Message == "" || s.ScheduleCount != 1 {
		e.t.Errorf("it is %+v", run)
	}
	if next := s.CompletedExecutions[1]; next.Tag != "next" || !*next.Success {
		e.t.Errorf("the next one is %+v", next)
	}
}

func suspended(e *env) {
	e.create(newScheduledJob("suspended", "R3//PT1S", func(s *stintv1.ScheduledJobSpec) { s.Suspend = ptr.To(true) }))
	e.request("suspended", "mine")
	s := e.until("suspended", "all due times have passed", func(s *stintv1.ScheduledJobStatus) bool { return s.SkippedCount == 3 && lists(0, 0, 1)(s) })
	if s.ScheduleCount != 1 || !meta.IsStatusConditionTrue(s.Conditions, stintv1.ConditionSuspended) {
		e.t.Errorf("%d runs, conditions %+v", s.ScheduleCount, s.Conditions)
	}
	e.untilEvents("suspended", "Suspended", "RunsSkipped")
}

func exitCodes(e *env) {
	e.create(newScheduledJob("codes", "R1//PT1S", command("exit42"), func(s *stintv1.ScheduledJobSpec) {
		s.PodCount, s.MaxRestart = ptr.To[int32](3), ptr.To[int32](0)
	}))
	s := e.until("codes", "it has ended", lists(0, 0, 1))
	want := []stintv1.ExitCode{{Code: 42, Pods: 3, Indexes: "0-2"}}
	if diff := cmp.Diff(want, s.CompletedExecutions[0].ExitCodes); diff != "" {
		e.t.Errorf("exit codes (-want +got):\n%s", diff)
	}
}
