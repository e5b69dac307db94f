package scheduledjob

// Decide tells what is to be done about a ScheduledJob. The order matters: what has become of runs is settled first, so
// that what was done and not written down is not done again.
func Decide(obs Observation) Decision {
	s := look(obs)
	if s.sj.DeletionTimestamp != nil {
		return Decision{draft: s}
	}
	s.followSuspension()
	s.followBlock()
	s.dropMalformed()
	s.findStarted()
	s.findEnded()

	s.takeUp()
	s.passDueTimes()
	s.skipOutdated()
	s.tellSkipped()

	d := Decision{draft: s}
	d.starts, d.Create = s.start()
	d.Delete = s.surplusJobs()
	d.LookAgain = s.lookAgain(len(d.starts) > 0)
	s.observe()
	return d
}
