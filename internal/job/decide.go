package job

// Decide tells what shall be done about a Job that is not finished.
func Decide(obs Observation) Decision {
	v := look(obs)
	end := judge(v)
	plan := manage(v, end)
	if end == nil {
		end = reachedCompletions(v, plan)
	}
	t := track(v, end)

	d := Decision{
		Adopt:   v.adopt,
		LetGo:   v.letGo,
		Create:  plan.create,
		Discard: plan.discard,
		Delete:  plan.delete,
		Release: t.release,
		Counts:  t.counts,
		Action:  plan.action,

		More:           plan.more || t.more,
		LookAgainAfter: earliest(plan.after, untilDeadline(v, end)),
		persisted:      &v.job.Status,
		full:           t.more,
	}
	s := nextStatus(v, end, plan, t)
	d.next, d.Events = s.status, append(plan.events, s.events...)
	d.Counts.creationReason(v)
	d.Counts.compare(v, s)
	d.Again = len(d.Adopt) > 0 || (end != nil && !s.finished && quiet(v))
	return d
}

// quiet tells that no pod of the Job lives, so that an end that is settled waits for finalizers only.
func quiet(v view) bool {
	return len(v.active) == 0 && len(v.terminating) == 0
}
