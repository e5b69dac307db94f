package job

// Decide tells what shall be done about a Job that is not finished.
func Decide(obs Observation) Decision {
	v := newView(obs)
	if len(v.adopt) > 0 {
		// First the Job takes what is its own: an adopted pod is changed, and not what obs shows any more.
		return Decision{Adopt: v.adopt, Release: v.release, Requeue: true, Action: Reconciling,
			persisted: &v.job.Status, next: v.job.Status.DeepCopy()}
	}
	end, plan := conclude(v)
	t := track(v, end)
	late, nextLate := pendingTooLong(v, plan)

	d := Decision{
		Release:         v.release,
		Create:          plan.create,
		DeleteUncounted: plan.deleteUncounted,
		Delete:          plan.delete,
		FailPending:     late,
		RemoveFinalizer: t.removeFinalizer,
		Counts:          t.counts,
		Action:          plan.action,

		RequeueFair:       plan.more || t.more,
		RequeueAfter:      earliest(plan.after, earliest(nextLate, untilDeadline(v, end))),
		persisted:         &v.job.Status,
		uncountedListFull: t.more,
	}
	d.limitFailedPods(v, end)
	s := nextStatus(v, end, plan, t)
	d.next, d.Events = s.status, append(plan.events, s.events...)
	d.Counts.creationReason(v)
	d.Counts.compare(v, s)
	d.Requeue = end != nil && !s.finished && noLivingPods(v) || len(d.FailPending) > 0 || s.satisfied
	return d
}

// noLivingPods tells that no pod of the Job lives, so that an end that is settled waits for finalizers only.
func noLivingPods(v view) bool {
	return len(v.active) == 0 && len(v.terminating) == 0
}

// conclude judges the Job and plans for its pods.
func conclude(v view) (end *Verdict, p plan) {
	end = judge(v)
	p = planPods(v, end)
	if end == nil {
		end = completedByCount(v, p)
	}
	return end, p
}
