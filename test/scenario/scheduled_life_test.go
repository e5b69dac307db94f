package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// scheduledLifeScenarios are about runs by hand, templates, what is kept, what others do, and a controller that was away.
var scheduledLifeScenarios = []scenario{
	{
		name: "a run by hand starts at once and is remembered",
		play: func(s *scene) {
			o := s.createScheduled()
			o.ask("first")
			j := o.succeeds("first")
			o.becomes(runs("completed=first count=1"))
			e := o.completed("first")
			s.same("run", []any{stintv1.TriggerManual, stintv1.ExecutionCompleted, true, j.name, j.uid, true},
				[]any{e.Trigger, e.Status, *e.Success, e.JobName, e.JobUID, e.CreatedAt != nil && e.StartedAt != nil && e.DueAt == nil})
		},
	},
	{
		name: "a tag that was used already is refused, and nothing runs twice",
		play: func(s *scene) {
			o := s.createScheduled()
			o.ask("first")
			o.succeeds("first")
			o.becomes(runs("completed=first count=1"))
			now := o.now().DeepCopy()
			now.Status.PendingExecutions = executions("first")
			_, err := o.stored.UpdateStatus(s.Context(), now, metav1.UpdateOptions{})
			s.same("refused", true, apierrors.IsInvalid(err))
			o.stays(runs("completed=first count=1"))
			o.has("first")
		},
	},
	{
		name: "a tag whose Job is there but which was forgotten is the same run",
		play: func(s *scene) {
			o := s.createScheduled(remembers(0))
			o.ask("first")
			o.succeeds("first")
			o.becomes(runs("count=1"))
			o.ask("first")
			o.stays(noneRuns)
			o.has("first")
		},
	},
	{
		name: "runs by hand that are asked for together start in order where they wait for each other",
		play: func(s *scene) {
			o := s.createScheduled(oneAtATime)
			o.ask("z", "a", "m")
			o.becomes(runs("pending=a,m running=z count=1"))
			for _, tag := range []string{"z", "a", "m"} {
				o.succeeds(tag)
			}
			o.becomes(runs("completed=z,a,m count=3"))
		},
	},
	{
		name: "a run by hand may have an environment and arguments of its own",
		play: func(s *scene) {
			o := s.createScheduled(podsThat(func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers[0].Args = []string{"a"}
				t.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}
			}))
			o.askFor(stintv1.Execution{Tag: "first", Overrides: &stintv1.Overrides{
				Args: []string{"b", "c"}, Env: []corev1.EnvVar{{Name: "B", Value: "3"}, {Name: "C", Value: "4"}},
			}})
			c := o.jobOf("first").active(1)[0].Spec.Containers[0]
			s.same("args", []string{"b", "c"}, c.Args)
			s.same("environment", map[string]string{"A": "1", "B": "3", "C": "4"}, values(c.Env))
			o.ask("second")
			c = o.jobOf("second").active(1)[0].Spec.Containers[0]
			s.same("args of the next run", []string{"a"}, c.Args)
			s.same("environment of the next run", map[string]string{"A": "1", "B": "2"}, values(c.Env))
		},
	},
	{
		name: "overrides may be for one of several containers, and for none that is not there",
		play: func(s *scene) {
			o := s.createScheduled(podsThat(func(t *corev1.PodTemplateSpec) {
				t.Spec.Containers = append(t.Spec.Containers, corev1.Container{Name: "side", Image: "scripted"})
			}))
			o.askFor(
				stintv1.Execution{Tag: "first", Overrides: &stintv1.Overrides{Container: "side", Args: []string{"b"}}},
				stintv1.Execution{Tag: "second", Overrides: &stintv1.Overrides{Container: "nobody", Args: []string{"b"}}},
			)
			spec := o.jobOf("first").active(1)[0].Spec
			s.same("args", [][]string{nil, {"b"}}, [][]string{spec.Containers[0].Args, spec.Containers[1].Args})
			s.same("reason", "InvalidOverrides", o.completed("second").Reason)
			o.has("first")
		},
	},
	{
		name: "a run waits for its PodTemplate, and then runs what it says at the time",
		play: func(s *scene) {
			o := s.createScheduled(templateRef("late"))
			o.ask("first")
			o.becomes(runs("pending=first"), waitsBecause("first", "TemplateNotFound"))
			o.tellsOf("TemplateNotFound")
			templates := s.api.CoreV1().PodTemplates(s.namespace)
			t, err := templates.Create(s.Context(), &corev1.PodTemplate{
				ObjectMeta: metav1.ObjectMeta{Name: "late"}, Template: withImage("one")}, metav1.CreateOptions{})
			s.must(err)
			s.same("image", "one", o.jobOf("first").active(1)[0].Spec.Containers[0].Image)
			t.Template = withImage("two")
			_, err = templates.Update(s.Context(), t, metav1.UpdateOptions{})
			s.must(err)
			o.succeeds("first")
			s.settleScheduled()
			o.ask("second")
			s.same("image of the next run", "two", o.jobOf("second").active(1)[0].Spec.Containers[0].Image)
		},
	},
	{
		name: "Jobs that are not to be kept go, and their runs stay remembered",
		play: func(s *scene) {
			o := s.createScheduled(keepsJobs(1, 0))
			for _, tag := range []string{"a", "b"} {
				o.ask(tag)
				o.succeeds(tag)
			}
			o.has("b")
			o.ask("c")
			o.jobOf("c").active(1).fail(7)
			o.becomes(runs("completed=a,b,c! count=3"))
			o.has("b")
			s.same("exit codes", []stintv1.ExitCode{{Code: 7, Pods: 1, Indexes: "0"}}, o.completed("c").ExitCodes)
			o.tellsOf("SuccessfulDelete: Deleted job scheduled-a")
		},
	},
	{
		name: "only so many runs are remembered as are to be, the latest",
		play: func(s *scene) {
			o := s.createScheduled(remembers(2))
			for _, tag := range []string{"a", "b", "c"} {
				o.ask(tag)
				o.succeeds(tag)
				o.becomes(noneRuns)
			}
			o.becomes(runs("completed=b,c count=3"))
			o.update(remembers(1))
			o.becomes(runs("completed=c count=3"))
		},
	},
	{
		name: "a run whose Job somebody deletes has failed",
		play: func(s *scene) {
			o := s.createScheduled()
			o.ask("first")
			j := o.jobOf("first")
			o.becomes(runs("running=first count=1"))
			j.delete(metav1.DeletePropagationBackground)
			j.gone()
			o.becomes(runs("completed=first! count=1"))
			s.same("reason", "JobDeleted", o.completed("first").Reason)
			o.stays(runs("completed=first! count=1"))
			o.has()
		},
	},
	{
		name: "a run that ended stays as it was when somebody deletes its Job",
		play: func(s *scene) {
			o := s.createScheduled()
			o.ask("first")
			j := o.succeeds("first")
			o.becomes(runs("completed=first count=1"))
			j.delete(metav1.DeletePropagationBackground)
			j.gone()
			o.stays(runs("completed=first count=1"))
			o.has()
		},
	},
	{
		name: "a run whose Job's name somebody else has fails, and leaves that Job alone",
		play: func(s *scene) {
			o := s.createScheduled()
			stranger := s.create(aJob(named("scheduled-first"), suspended))
			o.ask("first")
			e := o.completed("first")
			s.same("success", false, *e.Success)
			s.same("reason", "AlreadyExists", e.Reason)
			o.becomes(func(now *stintv1.ScheduledJob) string { return running(now, 0) })
			s.same("owners", 0, len(stranger.now().OwnerReferences))
			o.tellsOf("FailedCreate")
		},
	},
	{
		name: "a Job that was made before the status could say so is a run, and counted once",
		play: func(s *scene) {
			o := s.createScheduled()
			j := s.create(aJob(o.marked("first")))
			o.becomes(runs("running=first count=1"))
			j.active(1).succeed()
			o.becomes(runs("completed=first count=1"))
			o.stays(runs("completed=first count=1"))
		},
	},
	{
		name: "a run whose Job is suspended is running until that has ended",
		play: func(s *scene) {
			o := s.createScheduled(oneAtATime)
			o.ask("first", "second")
			j := o.jobOf("first")
			j.suspend()
			j.becomes(is(batchv1.JobSuspended, ""))
			o.stays(runs("pending=second running=first count=1"))
			j.resume()
			j.active(1).succeed()
			o.succeeds("second")
			o.becomes(runs("completed=first,second count=2"))
		},
	},
	{
		name: "a ScheduledJob deleted in the background takes its Jobs along",
		play: func(s *scene) {
			o := s.createScheduled()
			o.ask("first", "second")
			first, second := o.succeeds("first"), o.jobOf("second")
			running := second.active(1).run()
			o.delete(metav1.DeletePropagationBackground)
			o.gone()
			first.gone()
			second.gone()
			running.become("told to end", toldToEnd)
			running.fail(143)
			running.gone()
		},
	},
	{
		name: "a ScheduledJob deleted with its Jobs orphaned leaves a run to its end, which another of that name does not mind",
		play: func(s *scene) {
			old := s.createScheduled()
			old.ask("first")
			j := old.jobOf("first")
			old.delete(metav1.DeletePropagationOrphan)
			old.gone()
			o := s.createScheduled(oneAtATime)
			o.ask("second")
			o.becomes(runs("running=second count=1"))
			j.active(1).succeed()
			j.becomes(complete())
			o.stays(runs("running=second count=1"))
		},
	},
	{
		name: "a changed schedule is taken up anew, and nothing that was due before is due again",
		play: func(s *scene) {
			o := s.createScheduled(every("R1//PT1S"))
			first := o.tag(0)
			o.succeeds(first)
			o.becomes(runs("completed=" + first + " count=1"))
			o.update(every("R2//PT1S"))
			now := o.becomes(takenUp)
			since := now.Status.Schedule.Since
			s.same("taken up before the first", false, since.Before(now.Status.LastScheduleTime))
			second, third := since.UTC().Format(tagLayout), since.Add(1e9).UTC().Format(tagLayout)
			o.succeeds(second)
			o.succeeds(third)
			o.becomes(runs("completed="+first+","+second+","+third+" count=3"), next(nil))
		},
	},
	{
		name: "a schedule that is taken away leaves the active run alone, and runs by hand",
		play: func(s *scene) {
			o := s.createScheduled(every("R//PT1H"))
			t := o.tag(0)
			o.becomes(runs("running=" + t + " count=1"))
			o.update(func(o *stintv1.ScheduledJob) { o.Spec.Schedule = nil })
			o.becomes(next(nil))
			o.succeeds(t)
			o.ask("first")
			o.succeeds("first")
			o.becomes(runs("completed=" + t + ",first count=2"))
		},
	},
	{
		name: "runs go on while the controller is away, and their ends are noted afterwards", restarts: true,
		play: func(s *scene) {
			o := s.createScheduled(past(2), oneAtATime)
			t := o.tags(2)
			o.fallDue()
			p := o.jobOf(t[0]).active(1).run()
			o.becomes(runs("pending=" + t[1] + " running=" + t[0] + " count=1"))
			s.stopController()
			p.succeed()
			s.startController()
			o.succeeds(t[1])
			o.becomes(runs("completed=" + joined(t) + " count=2"))
		},
	},
	{
		name: "what is asked for while the controller is away runs once", restarts: true,
		play: func(s *scene) {
			o := s.createScheduled(past(3), skipsOutdated)
			o.becomes(takenUp)
			s.stopController()
			o.fallDue()
			o.ask("by-hand")
			s.startController()
			last := o.tag(2)
			o.succeeds("by-hand")
			o.succeeds(last)
			s.restartController()
			o.stays(func(now *stintv1.ScheduledJob) string { return running(now, 0) })
			now := o.now()
			s.same("count and skipped", []int64{2, 2}, []int64{now.Status.ScheduleCount, now.Status.SkippedCount})
			o.has("by-hand", last)
		},
	},
	{
		name: "due times of an interval that pass while the controller is away all run where none is to be skipped", restarts: true,
		play: func(s *scene) {
			o := s.createScheduled(every("R5//PT1S"), keepsJobs(10, 10))
			o.jobOf(o.tag(0))
			s.restartController()
			s.restartController()
			for _, tag := range o.tags(5) {
				o.succeeds(tag)
			}
			o.becomes(next(nil), func(now *stintv1.ScheduledJob) string { return running(now, 0) })
			s.same("count", int64(5), o.now().Status.ScheduleCount)
			o.has(o.tags(5)...)
		},
	},
}

// noneRuns tells that no run waits or is active.
func noneRuns(o *stintv1.ScheduledJob) string {
	if len(o.Status.PendingExecutions) > 0 {
		return "none waits"
	}
	return running(o, 0)
}

func running(o *stintv1.ScheduledJob, n int) string {
	if len(o.Status.RunningExecutions) != n {
		return "another number of runs"
	}
	return ""
}

func values(env []corev1.EnvVar) map[string]string {
	all := map[string]string{}
	for _, v := range env {
		if v.ValueFrom == nil && v.Name != "JOB_POD_COUNT" {
			all[v.Name] = v.Value
		}
	}
	return all
}

func withImage(name string) corev1.PodTemplateSpec {
	t := aJob().Spec.Template
	t.Spec.Containers[0].Image = name
	return t
}
