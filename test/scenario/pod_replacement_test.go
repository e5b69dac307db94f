package scenario_test

// podReplacementScenarios are about when a terminating pod is replaced.
var podReplacementScenarios = []scenario{
	{
		name: "by default a deleted pod counts as failed and is replaced while it still ends",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2)))
			first := j.active(2).run()[:1]
			first.delete()
			j.becomes(exactly("active=2 ready=1 terminating=1 failed=1"))
			first.succeed()
			j.becomes(exactly("active=2 ready=1 failed=1"))
			first.gone()
		},
	},
	{
		name: "with Failed, a deleted pod is replaced once it has failed",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2), replacesEnded))
			first := j.active(2).run()[:1]
			first.delete()
			j.stays(exactly("active=1 ready=1 terminating=1"))
			first.failLongAgo(1)
			j.becomes(exactly("active=2 ready=1 failed=1"))
		},
	},
	{
		name: "with Failed, a deleted pod that succeeds on its way out is a success",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2), replacesEnded))
			two := j.active(2).run()
			two[:1].delete()
			j.becomes(exactly("active=1 ready=1 terminating=1"))
			two[:1].succeed()
			j.becomes(exactly("active=1 ready=1 succeeded=1"))
			two[1:].succeed()
			j.becomes(exactly("succeeded=2 " + allDone))
		},
	},
	{
		name: "with Failed, an index is free again once its pod has ended",
		play: func(s *scene) {
			j := s.create(aJob(indexed(4, 2), replacesEnded))
			two := j.active(2).run()
			two[:1].delete()
			j.becomes(exactly("active=1 ready=1 terminating=1"))
			two[1:].succeed()
			j.becomes(exactly("active=1 terminating=1 succeeded=1 completed=1"))
			j.active(1).haveIndexes(2)
			two[:1].failLongAgo(1)
			j.becomes(exactly("active=2 succeeded=1 failed=1 completed=1"))
			j.active(2).haveIndexes(0, 2)
		},
	},
	{
		name: "with Failed, pods of a former suspension must end before a resumed Job goes on",
		play: func(s *scene) {
			j := s.create(aJob(pods(2, 2), replacesEnded))
			two := j.active(2).run()
			j.suspend()
			j.becomes(exactly("terminating=2 Suspended(JobSuspended) unstarted"))
			j.resume()
			j.stays(exactly("terminating=2 !Suspended(JobResumed)"))
			two[:1].fail(1)
			j.becomes(exactly("active=1 terminating=1 !Suspended(JobResumed)"))
			two[1:].succeed()
			j.becomes(exactly("active=2 !Suspended(JobResumed)"))
		},
	},
	{
		name: "by default a resumed Job goes on at once",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2)))
			j.active(2).run()
			j.suspend()
			j.becomes(exactly("terminating=2 Suspended(JobSuspended) unstarted"))
			j.resume()
			j.becomes(exactly("active=2 terminating=2 !Suspended(JobResumed)"))
			j.terminating(2).fail(1)
			j.becomes(exactly("active=2 !Suspended(JobResumed)"))
		},
	},
	{
		name: "with Failed, pods of a former size must end before a Job grows again",
		play: func(s *scene) {
			j := s.create(aJob(pods(9, 3), replacesEnded))
			j.active(3).run()
			j.scale(1)
			j.becomes(exactly("active=1 ready=1 terminating=2"))
			j.scale(3)
			j.stays(exactly("active=1 ready=1 terminating=2"))
			j.terminating(2)[:1].fail(1)
			j.becomes(exactly("active=2 ready=1 terminating=1"))
		},
	},
	{
		name: "by default a Job grows again at once",
		play: func(s *scene) {
			j := s.create(aJob(pods(9, 3)))
			j.active(3).run()
			j.scale(1)
			j.becomes(exactly("active=1 ready=1 terminating=2"))
			j.scale(3)
			j.becomes(exactly("active=3 ready=1 terminating=2"))
		},
	},
	{
		name: "pods that end are not ready any more",
		play: func(s *scene) {
			j := s.create(aJob(pods(3, 3)))
			three := j.active(3).run()
			j.becomes(exactly("active=3 ready=3"))
			three[:1].each(pod.runUnready)
			j.becomes(exactly("active=3 ready=2"))
			three[1:2].succeed()
			j.becomes(exactly("active=2 ready=1 succeeded=1"))
			j.suspend()
			j.becomes(exactly("terminating=2 succeeded=1 Suspended(JobSuspended) unstarted"))
		},
	},
}
