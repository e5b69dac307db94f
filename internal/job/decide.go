package job

// Decide returns what to do about a Job that is not finished.
func Decide(obs Observation) Decision {
	v := newView(obs)
	if len(v.adopt) > 0 {
		// Adopt first and decide again: adoption changes pods, so that obs would be outdated.
		return Decision{Adopt: v.adopt, Release: v.release, Requeue: true, Action: Reconciling,
			persisted: &v.job.Status, next: v.job.Status.DeepCopy()}
	}
	end, plan := conclude(v)
	t := track(v, end)
	late, nextLate := pendingTooLong(v, plan)

	d := Decision{
		Release:               v.release,
		Create:                plan.create,
		DeleteWithoutCounting: plan.deleteWithoutCounting,
		Delete:                plan.delete,
		FailPending:           late,
		RemoveFinalizer:       t.removeFinalizer,
		Counts:                t.counts,
		Action:                plan.action,

		RequeueFair:       plan.more || t.more,
		RequeueAfter:      earliest(plan.after, earliest(nextLate, untilDeadline(v, end))),
		persisted:         &v.job.Status,
		uncountedListFull: t.more,
	}
	d.limitFailedPods(v, end)
	d.DeleteCounted = beyondTerminatedLimit(v, t.removeFinalizer, d.DeleteFailed)
	s := nextStatus(v, end, plan, t)
	d.next, d.Events = s.status, append(plan.events, s.events...)
	d.Counts.creationReason(v)
	d.Counts.compare(v, s)
	d.Requeue = end != nil && !s.finished && noLivingPods(v) || len(d.FailPending) > 0 || s.satisfied
	return d
}

// noLivingPods reports whether no pod of the Job is active or terminating. A verdict then waits only for finalizers.
func noLivingPods(v view) bool {
	return len(v.active) == 0 && len(v.terminating) == 0
}

// conclude returns the verdict on the Job, nil if there is none yet, and the plan for its pods.
func conclude(v view) (end *Verdict, p plan) {
	end = judge(v)
	p = planPods(v, end)
	if end == nil {
		end = completedByCount(v, p)
	}
	return end, p
}
