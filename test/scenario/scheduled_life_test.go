package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// scheduledLifeScenarios are about what is kept, what users and other controllers do, and a controller that was away.
var scheduledLifeScenarios = []scenario{
	{
		name: "Jobs that are not to be kept are deleted, and their runs stay listed",
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
		name: "only the latest runs stay listed, as many as the limit says",
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
		name: "a run whose Job a user deletes has failed",
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
		name: "a run that ended stays as it was when a user deletes its Job",
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
		name: "a run fails if another Job has its name, and leaves that Job alone",
		play: func(s *scene) {
			o := s.createScheduled()
			other := s.create(aJob(named("scheduled-first"), suspended))
			o.ask("first")
			e := o.completed("first")
			s.same("success", false, *e.Success)
			s.same("reason", "AlreadyExists", e.Reason)
			o.becomes(func(now *stintv1.ScheduledJob) string { return running(now, 0) })
			s.same("owners", 0, len(other.now().OwnerReferences))
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
			running.become("deleted", isDeleted)
			running.fail(143)
			running.gone()
		},
	},
	{
		name: "a ScheduledJob deleted with its Jobs orphaned leaves a run to its end, and another of that name ignores it",
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
			before := o.becomes(runs("completed=" + first + " count=1"))
			o.update(every("R2//PT1S"))
			since := o.becomes(takenUp).Status.Schedule.Since
			s.same("taken up before the first", false, since.Before(before.Status.LastScheduleTime))
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
		name: "runs go on while the controller is away, and their ends are recorded afterwards", restarts: true,
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
		name: "a run that is asked for while the controller is away runs once", restarts: true,
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

// noneRuns checks that no run waits or is active.
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
