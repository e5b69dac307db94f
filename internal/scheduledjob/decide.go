package scheduledjob

// Decide returns what is to be done about a ScheduledJob. The order matters: runs that started or ended are listed first, so
// that a run that started, but whose status write failed, does not start again.
func Decide(obs Observation) Decision {
	v := newView(obs)
	s := newDraft(v, v.sj.Status, nil)
	d := Decision{draft: s}
	if v.sj.DeletionTimestamp != nil {
		return d
	}
	s.gate.updateSuspendedCondition()
	s.gate.updateBlockedCondition()
	s.executions.dropMalformed()
	s.executions.findStarted(s.timetable.cursor)
	s.executions.findEnded()

	s.timetable.readSchedule(&s.executions)
	due := s.timetable.pass(&s.executions)
	s.executions.pending.enqueue(due.runs)
	if skipsOutdated(v.sj) {
		due.skipped.add(s.executions.pending.skipOutdated())
	}
	s.skip(due.skipped)

	d.starts, d.Create = s.start()
	d.Delete = historyToDelete(v)
	d.RequeueAt = s.timetable.requeueAt(due.more && len(d.starts) > 0)
	s.conditions.setObservedGeneration()
	return d
}
