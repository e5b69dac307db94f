package job

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// conditionRules are the rules for conditions. A Job first announces its end (SuccessCriteriaMet, FailureTarget), and is
// finished (Complete, Failed) when its last pod has terminated. All these conditions stay True.
//
//	            ┌─ SuccessCriteriaMet ──► Complete
//	(running) ──┤
//	            └─ FailureTarget ───────► Failed
var conditionRules = []statusRule{
	conditionStays(batchv1.JobComplete),
	conditionStays(batchv1.JobFailed),
	conditionStays(batchv1.JobFailureTarget),
	conditionStays(batchv1.JobSuccessCriteriaMet),
	conditionsExclude(batchv1.JobComplete, batchv1.JobFailed),
	conditionsExclude(batchv1.JobComplete, batchv1.JobFailureTarget),
	alwaysConditionsExclude(batchv1.JobSuccessCriteriaMet, batchv1.JobFailed),
	alwaysConditionsExclude(batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget),
	conditionAnnounced(batchv1.JobComplete, batchv1.JobSuccessCriteriaMet),
	conditionAnnounced(batchv1.JobFailed, batchv1.JobFailureTarget),
	successPolicyAnnounced,
	notAnnouncedAfterwards,
}

func conditionsError(p *field.Path, format string, args ...any) *field.Error {
	return field.Invalid(p.Child("conditions"), field.OmitValueType{}, fmt.Sprintf(format, args...))
}

func conditionStays(kind batchv1.JobConditionType) statusRule {
	return func(c statusUpdate, p *field.Path) *field.Error {
		if !c.had(kind) || c.has(kind) {
			return nil
		}
		return conditionsError(p, "%s is True and must stay so", kind)
	}
}

func conditionsExclude(a, b batchv1.JobConditionType) statusRule {
	always := alwaysConditionsExclude(a, b)
	return func(c statusUpdate, p *field.Path) *field.Error {
		if !c.turns(a, b) {
			return nil
		}
		return always(c, p)
	}
}

// alwaysConditionsExclude is also checked if the conditions do not change, because no stored status violates it: the rule
// is as old as the conditions.
func alwaysConditionsExclude(a, b batchv1.JobConditionType) statusRule {
	return func(c statusUpdate, p *field.Path) *field.Error {
		if !c.has(a) || !c.has(b) {
			return nil
		}
		return conditionsError(p, "%s and %s cannot both be True", a, b)
	}
}

func conditionAnnounced(end, announcement batchv1.JobConditionType) statusRule {
	return func(c statusUpdate, p *field.Path) *field.Error {
		if !c.turns(end, announcement) || !c.has(end) || c.has(announcement) {
			return nil
		}
		return conditionsError(p, "%s cannot be True unless %s is", end, announcement)
	}
}

func successPolicyAnnounced(c statusUpdate, p *field.Path) *field.Error {
	if c.spec.SuccessPolicy == nil || !c.has(batchv1.JobComplete) || c.has(batchv1.JobSuccessCriteriaMet) {
		return nil
	}
	return conditionsError(p, "a Job with a successPolicy cannot be Complete unless SuccessCriteriaMet is True")
}

func notAnnouncedAfterwards(c statusUpdate, p *field.Path) *field.Error {
	if !c.had(batchv1.JobComplete) || c.had(batchv1.JobSuccessCriteriaMet) || !c.has(batchv1.JobSuccessCriteriaMet) {
		return nil
	}
	return conditionsError(p, "SuccessCriteriaMet cannot become True after Complete")
}
