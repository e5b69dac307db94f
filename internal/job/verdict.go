package job

import (
	batchv1 "k8s.io/api/batch/v1"
)

// Verdict is how a Job will end. It is final as soon as it is stored as a condition; the Job itself ends later, once its
// last pod has:
//
//	            judge                        all pods ended and counted
//	running ──────────▶ SuccessCriteriaMet ────────────────────────────▶ Complete
//	        ──────────▶ FailureTarget      ────────────────────────────▶ Failed
type Verdict struct {
	// Condition is SuccessCriteriaMet or FailureTarget.
	Condition       batchv1.JobConditionType
	Reason, Message string
	// Stored is set where the persisted status has the condition.
	Stored bool
}

// Success reports whether the Job will be complete. While there is no verdict it will not.
func (e *Verdict) Success() bool { return e != nil && e.Condition == batchv1.JobSuccessCriteriaMet }

// Failure reports whether the Job will have failed. While there is no verdict it will not.
func (e *Verdict) Failure() bool { return e != nil && e.Condition == batchv1.JobFailureTarget }

// Terminal is the condition that ends the Job.
func (e *Verdict) Terminal() batchv1.JobConditionType {
	if e.Success() {
		return batchv1.JobComplete
	}
	return batchv1.JobFailed
}

func failure(reason, message string) *Verdict {
	return &Verdict{Condition: batchv1.JobFailureTarget, Reason: reason, Message: message}
}

func success(reason, message string) *Verdict {
	return &Verdict{Condition: batchv1.JobSuccessCriteriaMet, Reason: reason, Message: message}
}

type rule struct {
	name  string
	judge func(view) *Verdict
}

// rules decide how a Job ends: the first that gives a verdict wins. Their order is what users rely on when several apply
// at once. The last rule of all, completions, is not among them: it must know which pods are to stay.
func rules() []rule {
	return []rule{
		{"stored verdict", storedVerdict},
		{"dependencies", failedDependency},
		{"podFailurePolicy", failedByPodFailurePolicy},
		{"backoffLimit", pastBackoffLimit},
		{"activeDeadlineSeconds", pastDeadline},
		{"pending timeout", creationTimedOut},
		{"maxFailedIndexes", pastMaxFailedIndexes},
		{"backoffLimitPerIndex", pastBackoffLimitPerIndex},
		{"successPolicy", metSuccessPolicy},
	}
}

// judge returns the verdict on the Job, or nil while it is open.
func judge(v view) *Verdict {
	for _, r := range rules() {
		if end := r.judge(v); end != nil {
			return end
		}
	}
	return nil
}

// storedVerdict returns the verdict that is stored in the status. It is final: nothing that happened since changes it.
func storedVerdict(v view) *Verdict {
	for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := condition(v.job.Status.Conditions, kind); isTrue(c) {
			return &Verdict{Condition: kind, Reason: c.Reason, Message: c.Message, Stored: true}
		}
	}
	return nil
}
