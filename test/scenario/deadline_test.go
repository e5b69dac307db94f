package scenario_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/test/await"
)

// deadlineScenarios are about activeDeadlineSeconds.
var deadlineScenarios = []scenario{
	{
		name: "a Job that its pods do not end by its deadline fails",
		play: func(s *scene) {
			j := s.create(aJob(deadline(1)))
			j.becomes(failed(1), active(0), failedBecause(batchv1.JobReasonDeadlineExceeded))
			j.lasted(1)
		},
	},
	{
		name: "past a deadline that was set while it ran, a Job fails, and its pods with it",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2)))
			j.active(2).run()
			j.becomes(started(), ready(2))
			j.update(deadline(2))
			j.becomes(willFailBecause(batchv1.JobReasonDeadlineExceeded), active(0), unfinished())
			j.lasted(2)
			j.terminating(2).fail(143)
			j.becomes(failed(2), failedBecause(batchv1.JobReasonDeadlineExceeded),
				says(batchv1.JobFailed, "Job was active longer than specified deadline"))
			j.tells("SuccessfulCreate", "SuccessfulDelete", "DeadlineExceeded: Job was active longer than specified deadline")
		},
	},
	{
		name: "a deadline that is put off does not fail the Job when it would have",
		play: func(s *scene) {
			j, deadlineBefore := s.putsOff()
			other := s.create(aJob(named("other"), deadline(deadlineBefore)))
			other.becomes(willFailBecause(batchv1.JobReasonDeadlineExceeded))
			j.stays(unfinished(), isNot(batchv1.JobFailureTarget), active(1))
			j.active(1).succeed()
			j.becomes(complete())
		},
	},
	{
		name: "the deadline ends a Job that waits for a retry",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2)))
			j.active(2).failBefore(-time.Hour, 1) // the node's clock is fast, so the delay is long
			j.becomes(failed(2), active(0))
			j.update(deadline(1))
			j.becomes(failed(2), failedBecause(batchv1.JobReasonDeadlineExceeded), active(0))
			j.tells("SuccessfulCreate", "DeadlineExceeded")
		},
	},
	{
		name: "the backoff limit is judged before the deadline",
		play: func(s *scene) {
			j := s.create(aJob(backoffLimit(0)))
			j.active(1)
			early := s.create(aJob(named("early"), deadline(1)))
			early.becomes(willFailBecause(batchv1.JobReasonDeadlineExceeded))
			s.stopController()
			j.active(1).fail(1)
			j.update(deadline(1))
			s.startController()
			j.becomes(failed(1), failedBecause(batchv1.JobReasonBackoffLimitExceeded))
		},
		restarts: true,
	},
	{
		name: "suspension stops the clock of the deadline, resuming starts it anew",
		play: func(s *scene) {
			j := s.create(aJob(deadline(3), suspended))
			witness := s.create(aJob(named("witness"), deadline(3)))
			j.becomes(notStarted(), active(0), is(batchv1.JobSuspended, ""))
			witness.becomes(willFailBecause(batchv1.JobReasonDeadlineExceeded))
			j.stays(unfinished(), notStarted(), isNot(batchv1.JobFailureTarget))
			j.update(deadline(3600))
			j.resume()
			j.active(1).run()
			j.becomes(started(), active(1))
			j.suspend()
			j.terminating(1).fail(143)
			j.becomes(notStarted(), active(0))
			j.update(deadline(2))
			j.resume()
			j.becomes(willFailBecause(batchv1.JobReasonDeadlineExceeded), started())
			j.lasted(2)
		},
	},
	{
		name: "a Job past its deadline while the controller was away fails when it is back",
		play: func(s *scene) {
			j := s.create(aJob())
			early := s.create(aJob(named("early"), deadline(2)))
			j.active(1).run()
			early.becomes(willFailBecause(batchv1.JobReasonDeadlineExceeded))
			s.stopController()
			j.update(deadline(1))
			s.startController()
			j.becomes(willFailBecause(batchv1.JobReasonDeadlineExceeded))
			j.terminating(1).fail(143)
			j.becomes(failed(1), failedBecause(batchv1.JobReasonDeadlineExceeded))
		},
		restarts: true,
	},
}

// putsOff returns a Job whose deadline, of so many seconds, was put off before it was over: the Job was still running
// when the controller had provably synced the change. It tries longer deadlines, which a slow machine needs.
func (s *scene) putsOff() (j *job, seconds int64) {
	s.Helper()
	for seconds = 8; time.Duration(seconds)*time.Second < await.Limit; seconds *= 2 {
		j = s.create(aJob(named(fmt.Sprint("job-", seconds)), deadline(seconds)))
		j.becomes(started())
		j.update(deadline(3600))
		s.settle()
		if failing(j.now(), []check{isNot(batchv1.JobFailureTarget), active(1)}) == "" {
			return j, seconds
		}
	}
	s.Fatalf("no deadline of less than %s could be put off in time", await.Limit)
	return nil, 0
}

// lasted checks that the verdict that the Job fails came no sooner than so many seconds after its start.
func (j *job) lasted(seconds int64) {
	j.Helper()
	j.becomes(func(o *batchv1.Job) string {
		c := condition(o, batchv1.JobFailureTarget)
		if c == nil || o.Status.StartTime == nil {
			return "FailureTarget and a start"
		}
		if lasted := int64(c.LastTransitionTime.Sub(o.Status.StartTime.Time).Seconds()); lasted < seconds {
			return fmt.Sprintf("active for %d s, not for %d s only", seconds, lasted)
		}
		return ""
	})
}
