package scenario_test

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	core "github.com/stint-dev/stint/internal/job"
)

const (
	waitingForJobs  = "WaitingForJobs"
	dependenciesMet = "DependenciesMet"
)

func dependsOn(jobs string) func(*batchv1.Job) { return asks(core.DependsOn, jobs) }

func onJob(name string) batchv1.JobConditionType {
	return batchv1.JobConditionType(core.DependsOnCondition + name)
}

// awaits checks that the Job waits for another one, for this reason.
func awaits(name, reason string) check {
	return func(j *batchv1.Job) string {
		c := condition(j, onJob(name))
		if c == nil || c.Status != corev1.ConditionFalse || c.Reason != reason || c.Message == "" || j.Status.StartTime != nil {
			return fmt.Sprintf("waiting for %s (%s), not started", name, reason)
		}
		return ""
	}
}

// met checks that the Job's dependency on another one is met.
func met(name, reason string) check { return is(onJob(name), reason) }

// failsBy checks that the Job has failed because of another one, which the messages name.
func failsBy(name string) check {
	return func(j *batchv1.Job) string {
		for _, kind := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed} {
			c := condition(j, kind)
			if c == nil || c.Reason != core.DependencyFailed || !strings.Contains(c.Message, "Job "+name+" ") {
				return fmt.Sprintf("%s by Job %s, not %+v", kind, name, c)
			}
		}
		return ""
	}
}

// createNamed creates a Job with a name.
func (s *scene) createNamed(name string, options ...func(*batchv1.Job)) *job {
	s.Helper()
	return s.create(aJob(append(options, named(name))...))
}

// completes makes the only pod of a Job succeed, and fails makes it fail.
func (j *job) completes() {
	j.Helper()
	j.active(1).succeed()
	j.becomes(complete())
}

func (j *job) fails() {
	j.Helper()
	j.active(1).fail(1)
	j.becomes(failedBecause(""))
}

// dependsOnScenarios are about Jobs that start when others have ended.
var dependsOnScenarios = []scenario{
	{
		name: "a Job waits until the one that it depends on is complete",
		play: func(s *scene) {
			first := s.createNamed("extract")
			j := s.create(aJob(pods(2, 2), dependsOn("extract")))
			j.stays(exactly("!depends-on.stint.dev/extract(Running) unstarted"))
			j.active(0)
			first.completes()
			j.becomes(exactly("active=2 depends-on.stint.dev/extract(Complete)"))
			j.active(2).succeed()
			j.becomes(exactly("succeeded=2 depends-on.stint.dev/extract(Complete) " + allDone))
			j.tells(waitingForJobs, dependenciesMet, "SuccessfulCreate", "Completed")
		},
	},
	{
		name: "a Job that depends on one that is complete already starts at once",
		play: func(s *scene) {
			s.createNamed("extract").completes()
			j := s.create(aJob(dependsOn("extract=Complete")))
			j.active(1).succeed()
			j.becomes(complete(), met("extract", "Complete"))
		},
	},
	{
		name: "a Job whose dependency fails fails with it, and names it",
		play: func(s *scene) {
			first := s.createNamed("extract", backoffLimit(0))
			j := s.create(aJob(dependsOn("extract")))
			j.becomes(awaits("extract", "Running"))
			first.fails()
			j.becomes(failsBy("extract"), active(0), failed(0))
			j.podsThat("there ever were", 0, func(*corev1.Pod) bool { return true })
			j.tells(waitingForJobs, core.DependencyFailed)
		},
	},
	{
		name: "a failure passes along a chain of Jobs",
		play: func(s *scene) {
			last := s.createNamed("c", dependsOn("b"))
			middle := s.createNamed("b", dependsOn("a"))
			last.becomes(awaits("b", "Waiting"))
			s.createNamed("a", backoffLimit(0)).fails()
			middle.becomes(failsBy("a"))
			last.becomes(failsBy("b"))
		},
	},
	{
		name: "a Job may wait for a failure, and fails if there is none",
		play: func(s *scene) {
			first, second := s.createNamed("first", backoffLimit(0)), s.createNamed("second")
			rescue := s.createNamed("rescue", dependsOn("first=Failed"))
			idle := s.createNamed("idle", dependsOn("second=Failed"))
			first.fails()
			rescue.completes()
			rescue.becomes(met("first", "Failed"))
			second.completes()
			idle.becomes(failsBy("second"))
		},
	},
	{
		name: "a Job may wait for others to end, well or not",
		play: func(s *scene) {
			first, second := s.createNamed("first", backoffLimit(0)), s.createNamed("second")
			j := s.create(aJob(dependsOn("first=Finished, second=Finished")))
			first.fails()
			j.becomes(met("first", "Failed"), awaits("second", "Running"))
			j.stays(awaits("second", "Running"), active(0))
			second.completes()
			j.completes()
			j.becomes(met("first", "Failed"), met("second", "Complete"))
		},
	},
	{
		name: "a Job that does not exist yet is waited for",
		play: func(s *scene) {
			j := s.create(aJob(dependsOn("later")))
			j.stays(exactly("!depends-on.stint.dev/later(NotFound) unstarted"))
			later := s.createNamed("later", suspended)
			j.becomes(awaits("later", "Suspended"))
			later.resume()
			j.becomes(awaits("later", "Running"))
			later.completes()
			j.completes()
			j.tells(waitingForJobs, dependenciesMet, "SuccessfulCreate", "Completed")
		},
	},
	{
		name: "a Job that is deleted while it is waited for is waited for again",
		play: func(s *scene) {
			first := s.createNamed("first")
			j := s.create(aJob(dependsOn("first")))
			j.becomes(awaits("first", "Running"))
			first.active(1)
			first.delete(metav1.DeletePropagationBackground)
			first.gone()
			j.becomes(awaits("first", "NotFound"))
			s.createNamed("first").completes()
			j.completes()
		},
	},
	{
		name: "a dependency that was met stays so, whatever becomes of that Job",
		play: func(s *scene) {
			first := s.createNamed("first")
			second := s.createNamed("second")
			j := s.create(aJob(dependsOn("first,second")))
			first.completes()
			j.becomes(met("first", "Complete"), awaits("second", "Running"))
			first.delete(metav1.DeletePropagationBackground)
			first.gone()
			j.stays(met("first", "Complete"), awaits("second", "Running"))
			s.createNamed("first", backoffLimit(0)).fails()
			j.stays(met("first", "Complete"), awaits("second", "Running"))
			second.completes()
			j.completes()
		},
	},
	{
		name: "one that fails counts, though others are still waited for",
		play: func(s *scene) {
			s.createNamed("slow")
			bad := s.createNamed("bad", backoffLimit(0))
			j := s.create(aJob(dependsOn("slow, never, bad")))
			j.becomes(awaits("slow", "Running"), awaits("never", "NotFound"), awaits("bad", "Running"))
			bad.fails()
			j.becomes(failsBy("bad"))
		},
	},
	{
		name: "the deadline does not run while a Job waits for others",
		play: func(s *scene) {
			first := s.createNamed("first")
			j := s.create(aJob(dependsOn("first"), deadline(2)))
			late := s.createNamed("late", deadline(2))
			late.becomes(failedBecause(batchv1.JobReasonDeadlineExceeded))
			j.becomes(awaits("first", "Running"), unfinished())
			first.completes()
			j.becomes(failedBecause(batchv1.JobReasonDeadlineExceeded), met("first", "Complete"))
		},
	},
	{
		name: "a suspended Job follows what it waits for, and starts when both are over",
		play: func(s *scene) {
			first := s.createNamed("first")
			j := s.create(aJob(dependsOn("first"), suspended))
			j.becomes(awaits("first", "Running"), is(batchv1.JobSuspended, ""))
			first.completes()
			j.becomes(met("first", "Complete"), notStarted())
			j.stays(met("first", "Complete"), notStarted(), active(0))
			j.resume()
			j.completes()
		},
	},
	{
		name: "a Job that is resumed goes on waiting",
		play: func(s *scene) {
			first := s.createNamed("first")
			j := s.create(aJob(dependsOn("first"), suspended))
			j.becomes(awaits("first", "Running"), is(batchv1.JobSuspended, ""))
			j.resume()
			j.becomes(awaits("first", "Running"), isNot(batchv1.JobSuspended))
			j.stays(awaits("first", "Running"), active(0))
			first.completes()
			j.completes()
		},
	},
	{
		name: "a dependency that is added after the start has no effect",
		play: func(s *scene) {
			j := s.create(aJob())
			j.becomes(started(), active(1))
			j.update(dependsOn("never"))
			j.stays(active(1), unfinished())
			j.active(1).failLongAgo(1)
			j.becomes(failed(1), active(1))
			j.completes()
		},
	},
	{
		name: "a Job that is not to wait any more starts",
		play: func(s *scene) {
			j := s.create(aJob(dependsOn("never, ever")))
			j.becomes(awaits("never", "NotFound"), awaits("ever", "NotFound"))
			j.update(dependsOn("ever"))
			j.becomes(exactly("!depends-on.stint.dev/ever(NotFound) unstarted"))
			j.update(func(o *batchv1.Job) { delete(o.Annotations, core.DependsOn) })
			j.active(1).succeed()
			j.becomes(exactly("succeeded=1 " + allDone))
		},
	},
	{
		name: "a Job of another manager is waited for as well",
		play: func(s *scene) {
			first := s.createNamed("first", managedBy(anotherManager))
			j := s.create(aJob(dependsOn("first")))
			j.stays(awaits("first", "Running"), active(0))
			first.updateStatus(func(o *batchv1.Job) {
				o.Status.StartTime = &o.CreationTimestamp
				withConditions(batchv1.JobSuccessCriteriaMet)(o)
			})
			j.stays(awaits("first", "Running"), active(0))
			first.updateStatus(func(o *batchv1.Job) {
				o.Status.CompletionTime = &o.CreationTimestamp
				withConditions(batchv1.JobComplete)(o)
			})
			j.completes()
		},
	},
	{
		name: "a Job with a verdict that has not ended yet is waited for",
		play: func(s *scene) {
			first := s.createNamed("first", pods(2, 2), backoffLimit(0))
			j := s.create(aJob(dependsOn("first=Failed")))
			two := first.active(2).run()
			two[:1].fail(1)
			first.becomes(willFailBecause(batchv1.JobReasonBackoffLimitExceeded))
			j.stays(awaits("first", "Running"), active(0))
			two[1:].fail(143)
			j.completes()
		},
	},
	{
		name: "of many Jobs each starts when all that it depends on are complete",
		play: func(s *scene) {
			top := s.createNamed("top")
			var sides []*job
			for i := range 5 {
				sides = append(sides, s.createNamed(fmt.Sprint("side-", i), dependsOn("top")))
			}
			bottom := s.createNamed("bottom", dependsOn("side-0,side-1,side-2,side-3,side-4"))
			bottom.becomes(awaits("side-0", "Waiting"), awaits("side-4", "Waiting"))
			top.completes()
			for _, side := range sides {
				bottom.becomes(active(0), notStarted())
				side.completes()
			}
			bottom.completes()
		},
	},
	{
		name:     "a dependency that is met while the controller is away lets the Job start when it is back",
		restarts: true,
		play: func(s *scene) {
			first := s.createNamed("first")
			j := s.create(aJob(dependsOn("first")))
			p := first.active(1)
			j.becomes(awaits("first", "Running"))
			s.stopController()
			p.succeed()
			s.startController()
			first.becomes(complete())
			j.completes()
			j.becomes(met("first", "Complete"))
		},
	},
	{
		name:     "a Job that waits goes on waiting whenever the controller is restarted",
		restarts: true,
		play: func(s *scene) {
			first := s.createNamed("first")
			j := s.create(aJob(dependsOn("first, second")))
			j.becomes(awaits("first", "Running"))
			s.restartController()
			j.stays(awaits("first", "Running"), awaits("second", "NotFound"), active(0))
			first.completes()
			j.becomes(met("first", "Complete"))
			s.stopController()
			first.delete(metav1.DeletePropagationBackground)
			s.startController()
			first.gone()
			j.stays(met("first", "Complete"), awaits("second", "NotFound"), active(0))
			second := s.createNamed("second")
			p := second.active(1)
			s.stopController()
			p.succeed()
			s.startController()
			j.completes()
			j.becomes(met("first", "Complete"), met("second", "Complete"))
		},
	},
}
