package registry

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateScheduling judges where and when a pod wants to run.
func validateScheduling(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(s.NodeSelector, p.Child("nodeSelector"))
	errs = append(errs, validateTolerations(s.Tolerations, p.Child("tolerations"))...)
	errs = append(errs, validateGates(s.SchedulingGates, p.Child("schedulingGates"))...)
	errs = append(errs, validateSpread(s.TopologySpreadConstraints, p.Child("topologySpreadConstraints"))...)
	for i, gate := range s.ReadinessGates {
		for _, msg := range validation.IsQualifiedName(string(gate.ConditionType)) {
			errs = append(errs, field.Invalid(p.Child("readinessGates").Index(i).Child("conditionType"), gate.ConditionType, msg))
		}
	}
	if s.Affinity != nil {
		errs = append(errs, validateAffinity(s.Affinity, p.Child("affinity"))...)
	}
	return errs
}

func validateGates(gates []corev1.PodSchedulingGate, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, gate := range gates {
		for _, msg := range validation.IsQualifiedName(gate.Name) {
			errs = append(errs, field.Invalid(p.Index(i), gate.Name, msg))
		}
		if seen.Has(gate.Name) {
			errs = append(errs, field.Duplicate(p.Index(i), gate.Name))
		}
		seen.Insert(gate.Name)
	}
	return errs
}

func validateTolerations(tolerations []corev1.Toleration, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range tolerations {
		errs = append(errs, validateToleration(&tolerations[i], p.Index(i))...)
	}
	return errs
}

func validateToleration(t *corev1.Toleration, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if t.Key != "" {
		errs = append(errs, metav1validation.ValidateLabelName(t.Key, p.Child("key"))...)
	} else if t.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Invalid(p.Child("operator"), t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(p.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
	}
	switch t.Operator {
	case corev1.TolerationOpExists:
		if t.Value != "" {
			errs = append(errs, field.Invalid(p.Child("operator"), t.Value, "value must be empty when `operator` is 'Exists'"))
		}
	case corev1.TolerationOpEqual, "":
		for _, msg := range validation.IsValidLabelValue(t.Value) {
			errs = append(errs, field.Invalid(p.Child("operator"), t.Value, msg))
		}
	default:
		errs = append(errs, field.NotSupported(p.Child("operator"), t.Operator,
			[]corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
	}
	if t.Effect == "" {
		return errs
	}
	return append(errs, among(t.Effect, p.Child("effect"),
		corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
}

func validateSpread(constraints []corev1.TopologySpreadConstraint, p *field.Path) field.ErrorList {
	type pair struct {
		key  string
		when corev1.UnsatisfiableConstraintAction
	}
	var errs field.ErrorList
	seen := sets.New[pair]()
	for i, c := range constraints {
		at := p.Index(i)
		if c.MaxSkew <= 0 {
			errs = append(errs, field.Invalid(at.Child("maxSkew"), c.MaxSkew, "must be greater than 0"))
		}
		errs = append(errs, validateTopologyKey(c.TopologyKey, at.Child("topologyKey"))...)
		errs = append(errs, among(c.WhenUnsatisfiable, at.Child("whenUnsatisfiable"), corev1.DoNotSchedule, corev1.ScheduleAnyway)...)
		errs = append(errs, validateSelector(c.LabelSelector, at.Child("labelSelector"))...)
		if c.MinDomains != nil && *c.MinDomains <= 0 {
			errs = append(errs, field.Invalid(at.Child("minDomains"), *c.MinDomains, "must be greater than 0"))
		}
		if key := (pair{c.TopologyKey, c.WhenUnsatisfiable}); seen.Has(key) {
			errs = append(errs, field.Duplicate(at, c.TopologyKey+", "+string(c.WhenUnsatisfiable)))
		} else {
			seen.Insert(key)
		}
	}
	return errs
}

func validateTopologyKey(key string, p *field.Path) field.ErrorList {
	if key == "" {
		return field.ErrorList{field.Required(p, "can not be empty")}
	}
	return metav1validation.ValidateLabelName(key, p)
}

func validateSelector(s *metav1.LabelSelector, p *field.Path) field.ErrorList {
	return metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, p)
}
