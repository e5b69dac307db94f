package job

import (
	batchv1 "k8s.io/api/batch/v1"
)

// verdict is how a Job will end. It is settled as soon as it is stored as a condition; the Job itself ends later, once
// its last pod has:
//
//	            judge                        all pods ended and counted
//	running ──────────▶ SuccessCriteriaMet ────────────────────────────▶ Complete
//	        ──────────▶ FailureTarget      ────────────────────────────▶ Failed
type verdict struct {
	// condition is SuccessCriteriaMet or FailureTarget.
	condition       batchv1.JobConditionType
	reason, message string
	// stored tells that the persisted status has the condition.
	stored bool
}

func (e *verdict) success() bool { return e != nil && e.condition == batchv1.JobSuccessCriteriaMet }
func (e *verdict) failure() bool { return e != nil && e.condition == batchv1.JobFailureTarget }

// terminal is the condition that ends the Job.
func (e *verdict) terminal() batchv1.JobConditionType {
	if e.success() {
		return batchv1.JobComplete
	}
	return batchv1.JobFailed
}

func failure(reason, message string) *verdict {
	return &verdict{condition: batchv1.JobFailureTarget, reason: reason, message: message}
}

func success(reason, message string) *verdict {
	return &verdict{condition: batchv1.JobSuccessCriteriaMet, reason: reason, message: message}
}

type rule struct {
	name  string
	judge func(view) *verdict
}

// rules settle the end of a Job: the first that gives a verdict wins. Their order is what users rely on when several
// apply at once. The last rule of all, completions, is not among them: it must know which pods are to stay.
func rules() []rule {
	return []rule{
		{"stored verdict", storedVerdict},
		{"dependencies", failedDependency},
		{"podFailurePolicy", failedByPodFailurePolicy},
		{"backoffLimit", pastBackoffLimit},
		{"activeDeadlineSeconds", pastDeadline},
		{"pending timeout", refusedTooLong},
		{"maxFailedIndexes", pastMaxFailedIndexes},
		{"backoffLimitPerIndex", pastBackoffLimitPerIndex},
		{"successPolicy", metSuccessPolicy},
	}
}

// judge returns the verdict on the Job, or nil while it is open.
func judge(v view) *verdict {
	for _, r := range rules() {
		if end := r.judge(v); end != nil {
			return end
		}
	}
	return nil
}

// storedVerdict keeps what was settled before, whatever happened since.
func storedVerdict(v view) *verdict {
	for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := condition(v.job.Status.Conditions, kind); isTrue(c) {
			return &verdict{condition: kind, reason: c.Reason, message: c.Message, stored: true}
		}
	}
	return nil
}
