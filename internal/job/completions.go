package job

import batchv1 "k8s.io/api/batch/v1"

// completedByCount completes a Job with enough successes once the plan leaves no pod active. Without spec.completions (a
// work queue), one success means that the work is done; the other pods finish by themselves.
func completedByCount(v view, plan plan) *Verdict {
	enough := v.succeeded > 0
	if v.job.Spec.Completions != nil {
		enough = v.succeeded >= *v.job.Spec.Completions
	}
	if !enough || v.isWaiting() || len(v.active) > len(plan.deleteWithoutCounting) || len(plan.create) > 0 {
		return nil
	}
	return success(batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods")
}
