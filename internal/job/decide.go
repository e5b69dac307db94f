package job

// Decide tells what shall be done about a Job that is not finished.
func Decide(obs Observation) Decision {
	v := look(obs)
	if len(v.adopt) > 0 {
		// First the Job takes what is its own: an adopted pod is changed, and not what obs shows any more.
		return Decision{Adopt: v.adopt, LetGo: v.letGo, Again: true, Action: Reconciling,
			persisted: &v.job.Status, next: v.job.Status.DeepCopy()}
	}
	end, plan := conclude(v)
	t := track(v, end)
	late, nextLate := stuck(v, plan)

	d := Decision{
		LetGo:   v.letGo,
		Create:  plan.create,
		Discard: plan.discard,
		Delete:  plan.delete,
		Fail:    late,
		Release: t.release,
		Counts:  t.counts,
		Action:  plan.action,

		More:           plan.more || t.more,
		LookAgainAfter: earliest(plan.after, earliest(nextLate, untilDeadline(v, end))),
		persisted:      &v.job.Status,
		full:           t.more,
	}
	d.limitFailedPods(v, end)
	s := nextStatus(v, end, plan, t)
	d.next, d.Events = s.status, append(plan.events, s.events...)
	d.Counts.creationReason(v)
	d.Counts.compare(v, s)
	d.Again = end != nil && !s.finished && quiet(v) || len(d.Fail) > 0 || s.met
	return d
}

// quiet tells that no pod of the Job lives, so that an end that is settled waits for finalizers only.
func quiet(v view) bool {
	return len(v.active) == 0 && len(v.terminating) == 0
}

// conclude judges the Job and plans for its pods.
func conclude(v view) (end *Verdict, p plan) {
	end = judge(v)
	p = manage(v, end)
	if end == nil {
		end = reachedCompletions(v, p)
	}
	return end, p
}
