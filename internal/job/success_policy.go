package job

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
)

// metSuccessPolicy completes an indexed Job early: when the indexes that succeeded satisfy a rule of
// spec.successPolicy.
func metSuccessPolicy(v view) *Verdict {
	if v.job.Spec.SuccessPolicy == nil || !v.indexed() || len(v.done) == 0 {
		return nil
	}
	for i, rule := range v.job.Spec.SuccessPolicy.Rules {
		if satisfied(rule, v.done, v.completions()) {
			return success(batchv1.JobReasonSuccessPolicy, fmt.Sprintf("Matched rules at index %d", i))
		}
	}
	return nil
}

// satisfied reports whether the indexes in done satisfy a rule:
//
//	succeededIndexes   succeededCount   satisfied by
//	set                -                all of the indexes
//	set                n                n of the indexes
//	-                  n                any n indexes
func satisfied(rule batchv1.SuccessPolicyRule, done Indexes, completions int) bool {
	if rule.SucceededIndexes == nil {
		return rule.SucceededCount != nil && done.Count() >= int(*rule.SucceededCount)
	}
	wanted := ParseIndexes(*rule.SucceededIndexes, completions)
	if len(wanted) == 0 {
		return false
	}
	missing := wanted.Without(done).Count()
	if missing == 0 {
		return true
	}
	return rule.SucceededCount != nil && wanted.Count()-missing >= int(*rule.SucceededCount)
}
