package scenario_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// suspendScenarios are about Jobs that are suspended and resumed.
var suspendScenarios = []scenario{
	{
		name: "a Job that is created suspended makes no pods until it is resumed",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2), suspended))
			j.stays(exactly("Suspended(JobSuspended) unstarted"), says(batchv1.JobSuspended, "Job suspended"))
			j.resume()
			j.becomes(exactly("active=2 !Suspended(JobResumed)"), says(batchv1.JobSuspended, "Job resumed"))
			j.tells("Suspended: Job suspended", "SuccessfulCreate", "Resumed: Job resumed")
		},
	},
	{
		name: "suspending ends the pods without counting them, resuming makes others",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2), backoffLimit(0)))
			two := j.active(2).run()
			j.suspend()
			j.becomes(exactly("terminating=2 Suspended(JobSuspended) unstarted"))
			two[:1].fail(143)
			two[1:].succeed()
			j.stays(exactly("Suspended(JobSuspended) unstarted"))
			j.resume()
			j.becomes(exactly("active=2 !Suspended(JobResumed)"))
			j.suspend()
			j.becomes(exactly("Suspended(JobSuspended) unstarted"))
			j.tells("SuccessfulCreate", "SuccessfulDelete", "Suspended: Job suspended", "SuccessfulCreate", "Resumed: Job resumed", "SuccessfulDelete")
		},
	},
	{
		name: "a suspended Job keeps what it has counted",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 2)))
			j.active(2)[1:].succeed()
			j.becomes(exactly("active=2 succeeded=1 completed=1"))
			j.active(2)[:1].failLongAgo(1)
			j.becomes(exactly("active=2 succeeded=1 failed=1 completed=1"))
			j.suspend()
			j.becomes(exactly("succeeded=1 failed=1 completed=1 Suspended(JobSuspended) unstarted"))
			j.resume()
			j.becomes(exactly("active=2 succeeded=1 failed=1 completed=1 !Suspended(JobResumed)"))
		},
	},
	{
		name: "a pod that ended just before the suspension counts",
		play: func(s *scene) {
			j := s.create(aJob(pods(4, 3)))
			three := j.active(3).run()
			j.becomes(exactly("active=3 ready=3"))
			s.stopController()
			three[:1].succeed()
			three[1:2].fail(1)
			j.suspend()
			s.startController()
			j.becomes(exactly("terminating=1 succeeded=1 failed=1 Suspended(JobSuspended) unstarted"))
		},
		restarts: true,
	},
	{
		name: "a suspension that no controller observed leaves the pods alone",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2)))
			j.active(2).run()
			j.becomes(exactly("active=2 ready=2"))
			s.stopController()
			j.suspend()
			j.resume()
			s.startController()
			j.stays(exactly("active=2 ready=2"))
			j.tells("SuccessfulCreate")
		},
		restarts: true,
	},
	{
		name: "the deadline counts from the last time that a Job was resumed",
		play: func(s *scene) {
			j := s.create(aJob())
			j.active(1)
			first := j.becomes(started()).Status.StartTime
			s.passes(2 * time.Second)
			j.suspend()
			j.becomes(exactly("Suspended(JobSuspended) unstarted"))
			j.update(changes(deadline(2), resumed))
			end := j.becomes(exactly("failed=1 !Suspended(JobResumed) "+pastDeadline), says(batchv1.JobFailed, "Job was active longer than specified deadline"))
			again := end.Status.StartTime
			s.same("startTime moved", true, first.Before(again))
			s.same("the deadline had passed", true, !condition(end, batchv1.JobFailureTarget).LastTransitionTime.Time.Before(again.Add(2*time.Second)))
		},
	},
	{
		name: "a suspended Job does not meet its deadline",
		play: func(s *scene) {
			j := s.create(aJob())
			j.active(1).run()
			j.suspend()
			j.becomes(exactly("terminating=1 Suspended(JobSuspended) unstarted"))
			j.update(deadline(1))
			s.passes(2 * time.Second)
			j.stays(exactly("terminating=1 Suspended(JobSuspended) unstarted"))
		},
	},
	{
		name: "a suspended Job without work completes without a start",
		play: func(s *scene) {
			j := s.create(aJob(pods(0, 0), suspended))
			j.becomes(exactly(allDone + " unstarted"))
			j.tells("Completed: Job completed")
		},
	},
	{
		name: "a work queue that is suspended after a success is done",
		play: func(s *scene) {
			j := s.create(aJob(workers(2)))
			two := j.active(2).run()
			two[:1].succeed()
			j.becomes(exactly("active=1 ready=1 succeeded=1"))
			j.suspend()
			j.becomes(exactly("terminating=1 succeeded=1 SuccessCriteriaMet(CompletionsReached)"))
			two[1:].succeed()
			j.becomes(exactly("succeeded=1 " + allDone))
			j.tells("SuccessfulCreate", "SuccessfulDelete", "Completed")
		},
	},
	{
		name: "a suspended Job can fail for pods that failed before",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2), backoffLimit(0)))
			two := j.active(2).run()
			j.becomes(exactly("active=2 ready=2"))
			s.stopController()
			two[:1].fail(1)
			j.suspend()
			s.startController()
			j.becomes(exactly("terminating=1 failed=2 FailureTarget(BackoffLimitExceeded)"))
			two[1:].succeed()
			j.becomes(exactly("failed=2 " + failedPods))
		},
		restarts: true,
	},
	{
		name: "a Job can be suspended and resumed again and again",
		play: func(s *scene) {
			j := s.create(aJob(indexed(3, 3)))
			for range 4 {
				j.active(3)
				j.suspend()
				j.becomes(exactly("Suspended(JobSuspended) unstarted"))
				j.resume()
				j.becomes(exactly("active=3 !Suspended(JobResumed)"))
			}
			j.active(3).succeed()
			j.becomes(exactly("succeeded=3 completed=0-2 !Suspended(JobResumed) " + allDone))
		},
	},
}

// passes returns when so much time has passed for the controller: a Job with that deadline has failed.
func (s *scene) passes(d time.Duration) {
	s.Helper()
	s.markers++
	clock := s.create(aJob(named(fmt.Sprintf("clock-%d", s.markers)), deadline(int64(d/time.Second))))
	clock.becomes(failedBecause(batchv1.JobReasonDeadlineExceeded))
}
