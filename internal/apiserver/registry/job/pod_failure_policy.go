package job

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// The limits of a pod failure policy.
const (
	maxPodFailureRules      = 20
	maxPodFailureExitCodes  = 255
	maxPodFailureConditions = 20
)

func validatePodFailurePolicy(spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	if spec.PodFailurePolicy == nil {
		return nil
	}
	var errs field.ErrorList
	rules := spec.PodFailurePolicy.Rules
	if len(rules) > maxPodFailureRules {
		errs = append(errs, field.TooMany(p.Child("rules"), len(rules), maxPodFailureRules))
	}
	names := templateContainerNames(&spec.Template.Spec)
	for i := range rules {
		rulePath := p.Child("rules").Index(i)
		errs = append(errs, validatePodFailureAction(rules[i].Action, spec, rulePath.Child("action"))...)
		errs = append(errs, validatePodFailureRequirement(&rules[i], names, rulePath)...)
	}
	return errs
}

func templateContainerNames(pod *corev1.PodSpec) []string {
	var names []string
	for i := range pod.InitContainers {
		names = append(names, pod.InitContainers[i].Name)
	}
	for i := range pod.Containers {
		names = append(names, pod.Containers[i].Name)
	}
	return names
}

func validatePodFailureAction(action batchv1.PodFailurePolicyAction, spec *batchv1.JobSpec, p *field.Path) field.ErrorList {
	if action == batchv1.PodFailurePolicyActionFailIndex && spec.BackoffLimitPerIndex == nil {
		return field.ErrorList{field.Invalid(p, action, "needs backoffLimitPerIndex to be set")}
	}
	return check.OneOf(action, p,
		batchv1.PodFailurePolicyActionCount,
		batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionFailJob,
		batchv1.PodFailurePolicyActionIgnore)
}

func validatePodFailureRequirement(rule *batchv1.PodFailurePolicyRule, names []string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case rule.OnExitCodes != nil && len(rule.OnPodConditions) > 0:
		errs = append(errs, field.Invalid(p, field.OmitValueType{},
			"onExitCodes and onPodConditions exclude each other: write two rules"))
	case rule.OnExitCodes == nil && len(rule.OnPodConditions) == 0:
		errs = append(errs, field.Invalid(p, field.OmitValueType{},
			"one of onExitCodes and onPodConditions must be set"))
	}
	if rule.OnExitCodes != nil {
		errs = append(errs, validateOnExitCodes(rule.OnExitCodes, names, p.Child("onExitCodes"))...)
	}
	return append(errs, validateOnPodConditions(rule.OnPodConditions, p.Child("onPodConditions"))...)
}

func validateOnExitCodes(on *batchv1.PodFailurePolicyOnExitCodesRequirement, names []string, p *field.Path) field.ErrorList {
	errs := check.OneOf(on.Operator, p.Child("operator"),
		batchv1.PodFailurePolicyOnExitCodesOpIn,
		batchv1.PodFailurePolicyOnExitCodesOpNotIn)
	if on.ContainerName != nil && !slices.Contains(names, *on.ContainerName) {
		errs = append(errs, field.Invalid(p.Child("containerName"), *on.ContainerName,
			fmt.Sprintf("must be the name of a container or init container of the template: one of %q", names)))
	}
	return append(errs, validateExitCodes(on, p.Child("values"))...)
}

func validateExitCodes(on *batchv1.PodFailurePolicyOnExitCodesRequirement, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	codes := on.Values
	if len(codes) == 0 {
		errs = append(errs, field.Invalid(p, codes, "must hold at least one exit code"))
	}
	if len(codes) > maxPodFailureExitCodes {
		errs = append(errs, field.TooMany(p, len(codes), maxPodFailureExitCodes))
	}
	seen := map[int32]bool{}
	for i, code := range codes {
		if code == 0 && on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
			errs = append(errs, field.Invalid(p.Index(i), code, "must not be 0 with the operator In: 0 is no failure"))
		}
		if seen[code] {
			errs = append(errs, field.Duplicate(p.Index(i), code))
		}
		seen[code] = true
	}
	if !slices.IsSorted(codes) {
		errs = append(errs, field.Invalid(p, codes, "must be in ascending order"))
	}
	return errs
}

func validateOnPodConditions(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(patterns) > maxPodFailureConditions {
		errs = append(errs, field.TooMany(p, len(patterns), maxPodFailureConditions))
	}
	for i, pattern := range patterns {
		errs = append(errs, check.Invalid(p.Index(i).Child("type"), pattern.Type, validation.IsQualifiedName(string(pattern.Type)))...)
		errs = append(errs, check.OneOf(pattern.Status, p.Index(i).Child("status"),
			corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown)...)
	}
	return errs
}
