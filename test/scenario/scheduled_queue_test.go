package scenario_test

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// scheduledQueueScenarios are about runs that wait, that are skipped, and that are held back.
var scheduledQueueScenarios = []scenario{
	{
		name: "runs that fall due at the same time start beside each other",
		play: func(s *scene) {
			o := s.createScheduled(past(3))
			o.fallDue()
			o.becomes(runs("running=" + joined(o.tags(3)) + " count=3"))
			o.has(o.tags(3)...)
		},
	},
	{
		name: "without concurrency runs wait for each other, in order",
		play: func(s *scene) {
			o := s.createScheduled(past(3), oneAtATime)
			t := o.tags(3)
			o.fallDue()
			o.becomes(runs("pending="+joined(t[1:])+" running="+t[0]+" count=1"), waitsBecause(t[1], "Queued"), waitsBecause(t[2], "Queued"))
			o.stays(runs("pending=" + joined(t[1:]) + " running=" + t[0] + " count=1"))
			o.tellsOf("RunQueued")
			o.succeeds(t[0])
			o.becomes(runs("pending=" + t[2] + " running=" + t[1] + " completed=" + t[0] + " count=2"))
			o.fails(t[1])
			o.becomes(runs("running=" + t[2] + " completed=" + t[0] + "," + t[1] + "! count=3"))
			o.succeeds(t[2])
			o.becomes(runs("completed=" + t[0] + "," + t[1] + "!," + t[2] + " count=3"))
		},
	},
	{
		name: "an interval of a second without concurrency loses no run",
		play: func(s *scene) {
			o := s.createScheduled(every("R4//PT1S"), oneAtATime)
			t := o.tags(4)
			o.becomes(runs("pending=" + joined(t[1:]) + " running=" + t[0] + " count=1"))
			for _, tag := range t {
				o.succeeds(tag)
			}
			o.becomes(runs("completed="+joined(t)+" count=4"), next(nil))
		},
	},
	{
		name: "of runs that are outdated while they wait only the latest is kept",
		play: func(s *scene) {
			o := s.createScheduled(every("R4//PT1S"), oneAtATime, skipsOutdated)
			t := o.tags(4)
			// A slow controller may have skipped the first ones already.
			now := o.becomes(next(nil), func(now *stintv1.ScheduledJob) string {
				waits := execution(now.Status.PendingExecutions, t[3]) != nil || execution(now.Status.RunningExecutions, t[3]) != nil
				if len(now.Status.RunningExecutions) != 1 || len(now.Status.PendingExecutions) > 1 || !waits {
					return "one run, and the last one waits"
				}
				return ""
			})
			s.same("runs and due times that were skipped", int64(4),
				now.Status.ScheduleCount+now.Status.SkippedCount+int64(len(now.Status.PendingExecutions)))
			for _, e := range now.Status.RunningExecutions {
				o.succeeds(e.Tag)
			}
			if now.Status.SkippedCount < 3 {
				o.succeeds(t[3])
			}
			o.tellsOf("RunsSkipped")
			o.becomes(func(now *stintv1.ScheduledJob) string {
				if execution(now.Status.CompletedExecutions, t[3]) == nil {
					return "the last one completed"
				}
				return ""
			})
		},
	},
	{
		name: "of due times that were missed only the latest runs where outdated ones are skipped",
		play: func(s *scene) {
			o := s.createScheduled(past(5), skipsOutdated)
			t := o.tags(5)
			o.fallDue()
			o.becomes(runs("running=" + t[4] + " count=1 skipped=4"))
			o.stays(runs("running=" + t[4] + " count=1 skipped=4"))
			o.has(t[4])
			o.tells("RunsSkipped: Skipped 4 runs that were due from "+o.due(0).Format(time.RFC3339)+" to "+o.due(3).Format(time.RFC3339),
				"SuccessfulCreate")
		},
	},
	{
		name: "no more than a hundred runs wait at a time, and none is lost",
		play: func(s *scene) {
			o := s.createScheduled(past(103), oneAtATime)
			t := o.tags(103)
			o.fallDue()
			o.becomes(runs("pending=" + joined(t[1:101]) + " running=" + t[0] + " count=1"))
			o.succeeds(t[0])
			o.becomes(runs("pending=" + joined(t[2:102]) + " running=" + t[1] + " completed=" + t[0] + " count=2"))
			o.succeeds(t[1])
			o.becomes(runs("pending=" + joined(t[3:103]) + " running=" + t[2] + " completed=" + joined(t[:2]) + " count=3"))
		},
	},
	{
		name: "a failed run blocks the schedule until a user sets the condition to False",
		play: blockedUntil(func(now *stintv1.ScheduledJob) {
			meta.SetStatusCondition(&now.Status.Conditions, metav1.Condition{
				Type: stintv1.ConditionBlocked, Status: metav1.ConditionFalse, Reason: "Resumed"})
		}),
	},
	{
		name: "a failed run blocks the schedule until a user removes the condition",
		play: blockedUntil(func(now *stintv1.ScheduledJob) {
			meta.RemoveStatusCondition(&now.Status.Conditions, stintv1.ConditionBlocked)
		}),
	},
	{
		name: "a failed run blocks the schedule until failures are to block it no more",
		play: func(s *scene) {
			o := s.createScheduled(past(2), oneAtATime, blocksOnFailure)
			t := o.tags(2)
			o.fallDue()
			o.fails(t[0])
			o.becomes(runs("pending=" + t[1] + " completed=" + t[0] + "! count=1 Blocked(RunFailed)"))
			o.update(func(o *stintv1.ScheduledJob) { o.Spec.Schedule.BlockOnFailure = ptr.To(false) })
			o.succeeds(t[1])
			o.becomes(runs("completed=" + t[0] + "!," + t[1] + " count=2"))
		},
	},
	{
		name: "a run by hand that fails blocks the schedule too",
		play: func(s *scene) {
			o := s.createScheduled(past(1), blocksOnFailure)
			o.becomes(takenUp)
			o.ask("first")
			o.fails("first")
			o.becomes(runs("completed=first! count=1 Blocked(RunFailed)"))
			o.fallDue()
			o.becomes(runs("pending="+o.tag(0)+" completed=first! count=1 Blocked(RunFailed)"), waitsBecause(o.tag(0), "Blocked"))
			o.has("first")
		},
	},
	{
		name: "while the schedule is blocked only the latest run waits where outdated ones are skipped",
		play: func(s *scene) {
			o := s.createScheduled(past(4), blocksOnFailure, skipsOutdated)
			o.becomes(takenUp)
			o.ask("first")
			o.fails("first")
			o.becomes(runs("completed=first! count=1 Blocked(RunFailed)"))
			o.fallDue()
			o.becomes(runs("pending=" + o.tag(3) + " completed=first! count=1 skipped=3 Blocked(RunFailed)"))
		},
	},
	{
		name: "due times of a suspended schedule pass without a run",
		play: func(s *scene) {
			o := s.createScheduled(past(3), pausedSchedule)
			o.becomes(runs("Suspended(Suspended)"))
			o.fallDue()
			o.becomes(runs("skipped=3 Suspended(Suspended)"))
			o.update(resumedSchedule)
			o.becomes(runs("skipped=3"))
			o.stays(runs("skipped=3"))
			o.has()
			o.tells("Suspended", "RunsSkipped", "Resumed")
		},
	},
	{
		name: "runs that wait go on waiting while the schedule is suspended, those by hand do not",
		play: func(s *scene) {
			o := s.createScheduled(past(2), oneAtATime)
			t := o.tags(2)
			o.fallDue()
			o.becomes(runs("pending=" + t[1] + " running=" + t[0] + " count=1"))
			o.update(pausedSchedule)
			o.becomes(runs("pending=" + t[1] + " running=" + t[0] + " count=1 Suspended(Suspended)"))
			o.succeeds(t[0])
			o.becomes(runs("pending="+t[1]+" completed="+t[0]+" count=1 Suspended(Suspended)"), waitsBecause(t[1], "Suspended"))
			o.ask("by-hand")
			o.succeeds("by-hand")
			o.becomes(runs("pending=" + t[1] + " completed=" + t[0] + ",by-hand count=2 Suspended(Suspended)"))
			o.update(resumedSchedule)
			o.succeeds(t[1])
			o.becomes(runs("completed=" + t[0] + ",by-hand," + t[1] + " count=3"))
		},
	},
	{
		name: "when concurrency is forbidden, active runs go on and the next one waits for all of them",
		play: func(s *scene) {
			o := s.createScheduled(past(2))
			t := o.tags(2)
			o.fallDue()
			o.becomes(runs("running=" + joined(t) + " count=2"))
			o.update(oneAtATime)
			o.ask("third")
			o.becomes(runs("pending=third running="+joined(t)+" count=2"), waitsBecause("third", "Queued"))
			o.succeeds(t[0])
			o.stays(runs("pending=third running=" + t[1] + " completed=" + t[0] + " count=2"))
			o.succeeds(t[1])
			o.succeeds("third")
			o.becomes(runs("completed=" + joined(t) + ",third count=3"))
		},
	},
	{
		name: "when concurrency is allowed, all waiting runs start",
		play: func(s *scene) {
			o := s.createScheduled(past(3), oneAtATime)
			t := o.tags(3)
			o.fallDue()
			o.becomes(runs("pending=" + joined(t[1:]) + " running=" + t[0] + " count=1"))
			o.update(func(o *stintv1.ScheduledJob) { o.Spec.AllowConcurrentRun = ptr.To(true) })
			o.becomes(runs("running=" + joined(t) + " count=3"))
		},
	},
	{
		name: "runs by hand and of the schedule wait in one queue",
		play: func(s *scene) {
			o := s.createScheduled(past(2), oneAtATime)
			o.becomes(takenUp)
			o.ask("first", "second")
			o.becomes(runs("pending=second running=first count=1"))
			o.fallDue()
			t := o.tags(2)
			o.becomes(runs("pending=second," + joined(t) + " running=first count=1"))
			for _, tag := range []string{"first", "second", t[0], t[1]} {
				o.succeeds(tag)
			}
			o.becomes(runs("completed=first,second," + joined(t) + " count=4"))
		},
	},
}

// blockedUntil lets the first of two runs fail. The second waits until a user changes the status by resume.
func blockedUntil(resume func(*stintv1.ScheduledJob)) func(*scene) {
	return func(s *scene) {
		o := s.createScheduled(past(2), oneAtATime, blocksOnFailure)
		t := o.tags(2)
		o.fallDue()
		o.fails(t[0])
		blocked := "pending=" + t[1] + " completed=" + t[0] + "! count=1 Blocked(RunFailed)"
		o.becomes(runs(blocked), waitsBecause(t[1], "Blocked"))
		o.stays(runs(blocked))
		o.ask("by-hand")
		o.succeeds("by-hand")
		o.becomes(runs("pending=" + t[1] + " completed=" + t[0] + "!,by-hand count=2 Blocked(RunFailed)"))
		o.updateStatus(resume)
		o.succeeds(t[1])
		o.becomes(runs("completed=" + t[0] + "!,by-hand," + t[1] + " count=3"))
		o.tellsOf("Blocked: Schedule blocked: run " + t[0] + " failed: FailedIndexes: Job has failed indexes")
		o.tellsOf("Resumed: Schedule resumed")
	}
}
