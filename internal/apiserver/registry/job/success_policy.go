package job

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// The limits of a success policy.
const (
	maxSuccessRules           = 20
	maxSucceededIndexesLength = 64 * 1024
)

func validateSuccessPolicy(spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	if spec.SuccessPolicy == nil {
		return nil
	}
	if !isIndexed(spec) {
		return field.ErrorList{field.Invalid(p, field.OmitValueType{},
			"set completionMode to Indexed, or remove this field")}
	}
	var errs field.ErrorList
	rules := spec.SuccessPolicy.Rules
	if len(rules) == 0 {
		errs = append(errs, field.Required(p.Child("rules"), "a success policy has at least one rule"))
	}
	if len(rules) > maxSuccessRules {
		errs = append(errs, field.TooMany(p.Child("rules"), len(rules), maxSuccessRules))
	}
	completions := ptr.Deref(spec.Completions, 0)
	for i := range rules {
		errs = append(errs, validateSuccessRule(&rules[i], completions, p.Child("rules").Index(i))...)
	}
	return errs
}

func validateSuccessRule(rule *batchv1.SuccessPolicyRule, completions int32, p *field.Path) field.ErrorList {
	if rule.SucceededIndexes == nil && rule.SucceededCount == nil {
		return field.ErrorList{field.Required(p, "set succeededIndexes, succeededCount or both")}
	}
	var errs field.ErrorList
	named := int32(0)
	if rule.SucceededIndexes != nil {
		path, text := p.Child("succeededIndexes"), *rule.SucceededIndexes
		if len(text) > maxSucceededIndexesLength {
			errs = append(errs, field.TooLong(path, text, maxSucceededIndexesLength))
		}
		indexes, err := parseIndexes(text, completions)
		if err != nil {
			errs = append(errs, field.Invalid(path, text, err.Error()))
		}
		named = indexes.count()
	}
	if rule.SucceededCount == nil {
		return errs
	}
	count, path := *rule.SucceededCount, p.Child("succeededCount")
	errs = append(errs, apivalidation.ValidateNonnegativeField(int64(count), path)...)
	if count > completions {
		errs = append(errs, field.Invalid(path, count,
			fmt.Sprintf("must be less than or equal to %d, the number of completions", completions)))
	}
	if rule.SucceededIndexes != nil && count > named {
		errs = append(errs, field.Invalid(path, count,
			fmt.Sprintf("must be less than or equal to %d, the number of indexes that succeededIndexes names", named)))
	}
	return errs
}
