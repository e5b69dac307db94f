package scenario_test

import batchv1 "k8s.io/api/batch/v1"

// eventScenarios are about the exact text of a Job's events.
var eventScenarios = []scenario{
	{
		name: "events name their type, reason, message, source and the Job",
		play: func(s *scene) {
			j := s.create(aJob(suspended))
			j.becomes(is(batchv1.JobSuspended, ""))
			j.resume()
			name := j.active(1)[0].Name
			j.becomes(isNot(batchv1.JobSuspended)) // Events follow when this is stored.
			j.suspend()
			j.becomes(is(batchv1.JobSuspended, ""))
			j.says(
				"Normal Suspended: Job suspended",
				"Normal SuccessfulCreate: Created pod: "+name,
				"Normal Resumed: Job resumed",
				"Normal SuccessfulDelete: Deleted pod: "+name,
			)
		},
	},
	{
		name: "the event for the end of a Job has its reason: BackoffLimitExceeded",
		play: reportsEnd(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit", backoffLimit(0)),
	},
	{
		name: "the event for the end of a Job has its reason: DeadlineExceeded",
		play: func(s *scene) {
			const why = "Job was active longer than specified deadline"
			j := s.create(aJob())
			name := j.active(1)[0].Name
			j.update(deadline(1))
			j.becomes(exactly("failed=1 "+pastDeadline), says(batchv1.JobFailureTarget, why), says(batchv1.JobFailed, why))
			j.says("Normal SuccessfulCreate: Created pod: "+name, "Normal SuccessfulDelete: Deleted pod: "+name, "Warning DeadlineExceeded: "+why)
		},
	},
	{
		name: "the event for the end of a Job has its reason: MaxFailedIndexesExceeded",
		play: reportsEnd(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes",
			indexed(1, 1), limitPerIndex(0), maxFailedIndexes(0)),
	},
	{
		name: "the event for the end of a Job has its reason: FailedIndexes",
		play: reportsEnd(batchv1.JobReasonFailedIndexes, "Job has failed indexes", indexed(1, 1), limitPerIndex(0)),
	},
	{
		name: "a condition has the time of the write, and completionTime lies between verdict and end",
		play: func(s *scene) {
			j := s.create(aJob())
			j.active(1).succeed()
			now := j.becomes(complete())
			for _, c := range now.Status.Conditions {
				s.same("probe time", c.LastTransitionTime, c.LastProbeTime)
				s.same("started before", false, c.LastTransitionTime.Before(now.Status.StartTime))
				s.same("message", "Reached expected number of succeeded pods", c.Message)
			}
			// Upstream reads the clock for each of them.
			s.same("completed before the verdict", false, now.Status.CompletionTime.Before(&condition(now, batchv1.JobSuccessCriteriaMet).LastTransitionTime))
			s.same("completed after Complete", false, condition(now, batchv1.JobComplete).LastTransitionTime.Before(now.Status.CompletionTime))
		},
	},
}

// reportsEnd makes a Job's only pod fail, and checks the events about the end.
func reportsEnd(reason, message string, options ...func(*batchv1.Job)) func(*scene) {
	return func(s *scene) {
		j := s.create(aJob(options...))
		p := j.active(1)
		name := p[0].Name
		p.fail(1)
		j.becomes(exactlyFailed(reason), says(batchv1.JobFailureTarget, message), says(batchv1.JobFailed, message))
		j.says("Normal SuccessfulCreate: Created pod: "+name, "Warning "+reason+": "+message)
	}
}

func exactlyFailed(reason string) check {
	return func(j *batchv1.Job) string {
		return failing(j, []check{willFailBecause(reason), failedBecause(reason), failed(1), active(0), terminating(0)})
	}
}
