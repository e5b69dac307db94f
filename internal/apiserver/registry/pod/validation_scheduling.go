package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// validateScheduling validates the fields that decide where and when a pod runs.
func validateScheduling(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(s.NodeSelector, p.Child("nodeSelector"))
	errs = append(errs, ValidateTolerations(s.Tolerations, p.Child("tolerations"))...)
	errs = append(errs, validateGates(s.SchedulingGates, p.Child("schedulingGates"))...)
	errs = append(errs, validateSpread(s.TopologySpreadConstraints, p.Child("topologySpreadConstraints"))...)
	for i, gate := range s.ReadinessGates {
		errs = append(errs, check.Invalid(p.Child("readinessGates").Index(i).Child("conditionType"), gate.ConditionType, validation.IsQualifiedName(string(gate.ConditionType)))...)
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
		errs = append(errs, check.Invalid(p.Index(i), gate.Name, validation.IsQualifiedName(gate.Name))...)
		if seen.Has(gate.Name) {
			errs = append(errs, field.Duplicate(p.Index(i), gate.Name))
		}
		seen.Insert(gate.Name)
	}
	return errs
}

// ValidateTolerations validates each toleration.
func ValidateTolerations(tolerations []corev1.Toleration, p *field.Path) field.ErrorList {
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
		if msgs := validation.IsValidLabelValue(t.Value); len(msgs) > 0 {
			errs = append(errs, field.Invalid(p.Child("operator"), t.Value, strings.Join(msgs, ";")))
		}
	default:
		errs = append(errs, field.NotSupported(p.Child("operator"), t.Operator,
			[]corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
	}
	if t.Effect == "" {
		return errs
	}
	return append(errs, check.Among(t.Effect, p.Child("effect"),
		corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
}

func validateSpread(constraints []corev1.TopologySpreadConstraint, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range constraints {
		c, at := &constraints[i], p.Index(i)
		errs = append(errs, validateConstraint(c, at)...)
		if slices.ContainsFunc(constraints[i+1:], func(later corev1.TopologySpreadConstraint) bool {
			return later.TopologyKey == c.TopologyKey && later.WhenUnsatisfiable == c.WhenUnsatisfiable
		}) {
			errs = append(errs, field.Duplicate(at, c.TopologyKey+", "+string(c.WhenUnsatisfiable)))
		}
	}
	return errs
}

func validateConstraint(c *corev1.TopologySpreadConstraint, p *field.Path) field.ErrorList {
	errs := requireName(c.TopologyKey, p.Child("topologyKey"))
	if c.MaxSkew <= 0 {
		errs = append(errs, field.Invalid(p.Child("maxSkew"), c.MaxSkew, "must be greater than zero"))
	}
	errs = append(errs, check.Supported(c.WhenUnsatisfiable, p.Child("whenUnsatisfiable"), corev1.DoNotSchedule, corev1.ScheduleAnyway)...)
	errs = append(errs, validateMinDomains(c, p.Child("minDomains"))...)
	for _, policy := range []struct {
		field string
		value *corev1.NodeInclusionPolicy
	}{{"nodeAffinityPolicy", c.NodeAffinityPolicy}, {"nodeTaintsPolicy", c.NodeTaintsPolicy}} {
		if policy.value != nil {
			errs = append(errs, check.Supported(*policy.value, p.Child(policy.field), corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)...)
		}
	}
	errs = append(errs, validateOwnLabels(labelKeys{match: c.MatchLabelKeys, selector: c.LabelSelector}, p)...)
	return append(errs, validateSelector(c.LabelSelector, p.Child("labelSelector"))...)
}

func validateMinDomains(c *corev1.TopologySpreadConstraint, p *field.Path) field.ErrorList {
	if c.MinDomains == nil {
		return nil
	}
	var errs field.ErrorList
	if *c.MinDomains <= 0 {
		errs = append(errs, field.Invalid(p, *c.MinDomains, "must be greater than zero"))
	}
	if c.WhenUnsatisfiable != corev1.DoNotSchedule {
		errs = append(errs, field.Invalid(p, *c.MinDomains, "can only be used if whenUnsatisfiable is DoNotSchedule"))
	}
	return errs
}

// labelKeys are matchLabelKeys and mismatchLabelKeys, with their label selector. They select other pods by the values of
// this pod's own labels.
type labelKeys struct {
	match, mismatch []string
	selector        *metav1.LabelSelector
}

func validateOwnLabels(l labelKeys, p *field.Path) field.ErrorList {
	errs := validateLabelKeys(l.match, l.selector, p.Child("matchLabelKeys"))
	errs = append(errs, validateLabelKeys(l.mismatch, l.selector, p.Child("mismatchLabelKeys"))...)
	for i, key := range l.match {
		if slices.Contains(l.mismatch, key) {
			errs = append(errs, field.Invalid(p.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
		if selectsTwice(l.selector, key) {
			errs = append(errs, field.Invalid(p.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and labelSelector"))
		}
	}
	return errs
}

func validateLabelKeys(keys []string, selector *metav1.LabelSelector, p *field.Path) field.ErrorList {
	if len(keys) > 0 && selector == nil {
		return field.ErrorList{field.Forbidden(p, "must not be specified when labelSelector is not set")}
	}
	var errs field.ErrorList
	for i, key := range keys {
		errs = append(errs, metav1validation.ValidateLabelName(key, p.Index(i))...)
	}
	return errs
}

// selectsTwice reports whether a selector has an expression for key and another requirement for it. One expression alone
// may be the one that selectByOwnLabels has added.
func selectsTwice(s *metav1.LabelSelector, key string) bool {
	if s == nil {
		return false
	}
	_, said := s.MatchLabels[key]
	for _, e := range s.MatchExpressions {
		if e.Key != key {
			continue
		}
		if said {
			return true
		}
		said = true
	}
	return false
}

func validateTopologyKey(key string, p *field.Path) field.ErrorList {
	return append(requireName(key, p), metav1validation.ValidateLabelName(key, p)...)
}

func validateSelector(s *metav1.LabelSelector, p *field.Path) field.ErrorList {
	return metav1validation.ValidateLabelSelector(s, metav1validation.LabelSelectorValidationOptions{}, p)
}
