package pod

import (
	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

const (
	required  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferred = "preferredDuringSchedulingIgnoredDuringExecution"
)

func validateAffinity(a *corev1.Affinity, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if a.NodeAffinity != nil {
		errs = append(errs, validateNodeAffinity(a.NodeAffinity, p.Child("nodeAffinity"))...)
	}
	if n := a.PodAffinity; n != nil {
		errs = append(errs, validatePodAffinity(n.RequiredDuringSchedulingIgnoredDuringExecution,
			n.PreferredDuringSchedulingIgnoredDuringExecution, p.Child("podAffinity"))...)
	}
	if n := a.PodAntiAffinity; n != nil {
		errs = append(errs, validatePodAffinity(n.RequiredDuringSchedulingIgnoredDuringExecution,
			n.PreferredDuringSchedulingIgnoredDuringExecution, p.Child("podAntiAffinity"))...)
	}
	return errs
}

func validateNodeAffinity(a *corev1.NodeAffinity, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := a.RequiredDuringSchedulingIgnoredDuringExecution; s != nil {
		errs = append(errs, ValidateNodeSelector(s, p.Child(required))...)
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		term, at := &a.PreferredDuringSchedulingIgnoredDuringExecution[i], p.Child(preferred).Index(i)
		errs = append(errs, validateWeight(term.Weight, at.Child("weight"))...)
		errs = append(errs, validateNodeTerm(&term.Preference, at.Child("preference"))...)
	}
	return errs
}

// ValidateNodeSelector validates the terms of a node selector.
func ValidateNodeSelector(s *corev1.NodeSelector, p *field.Path) field.ErrorList {
	p = p.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		return field.ErrorList{field.Required(p, "must have at least one node selector term")}
	}
	var errs field.ErrorList
	for i := range s.NodeSelectorTerms {
		errs = append(errs, validateNodeTerm(&s.NodeSelectorTerms[i], p.Index(i))...)
		errs = append(errs, validateNodeLabels(&s.NodeSelectorTerms[i], p.Index(i))...)
	}
	return errs
}

func validateWeight(weight int32, p *field.Path) field.ErrorList {
	if weight <= 0 || weight > 100 {
		return field.ErrorList{field.Invalid(p, weight, "must be in the range 1-100")}
	}
	return nil
}

func validateNodeTerm(t *corev1.NodeSelectorTerm, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range t.MatchExpressions {
		at := p.Child("matchExpressions").Index(i)
		errs = append(errs, validateNodeRequirement(&t.MatchExpressions[i], at)...)
		errs = append(errs, metav1validation.ValidateLabelName(t.MatchExpressions[i].Key, at.Child("key"))...)
	}
	for i := range t.MatchFields {
		errs = append(errs, validateNodeField(&t.MatchFields[i], p.Child("matchFields").Index(i))...)
	}
	return errs
}

// validateNodeLabels validates the label values of a required term. Those of preferred terms are not validated, because
// they do not keep a pod from running.
func validateNodeLabels(t *corev1.NodeSelectorTerm, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, r := range t.MatchExpressions {
		for j, v := range r.Values {
			errs = append(errs, check.Invalid(p.Child("matchExpressions").Index(i).Child("values").Index(j), v, validation.IsValidLabelValue(v))...)
		}
	}
	return errs
}

// validateNodeField validates a requirement on a field of nodes. It must be metadata.name, with one value.
func validateNodeField(r *corev1.NodeSelectorRequirement, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) != 1 {
			errs = append(errs, field.Required(p.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
		}
	default:
		errs = append(errs, field.Invalid(p.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	if r.Key != "metadata.name" {
		return append(errs, field.Invalid(p.Child("key"), r.Key, "must be metadata.name"))
	}
	for i, v := range r.Values {
		errs = append(errs, check.Subdomain(v, p.Child("values").Index(i))...)
	}
	return errs
}

func validateNodeRequirement(r *corev1.NodeSelectorRequirement, p *field.Path) field.ErrorList {
	values := p.Child("values")
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			return field.ErrorList{field.Required(values, "must be specified when `operator` is 'In' or 'NotIn'")}
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			return field.ErrorList{field.Forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")}
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(r.Values) != 1 {
			return field.ErrorList{field.Required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'")}
		}
	default:
		return field.ErrorList{field.Invalid(p.Child("operator"), r.Operator, "not a valid selector operator")}
	}
	return nil
}

func validatePodAffinity(must []corev1.PodAffinityTerm, may []corev1.WeightedPodAffinityTerm, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range must {
		errs = append(errs, validatePodTerm(&must[i], p.Child(required).Index(i))...)
	}
	for i := range may {
		at := p.Child(preferred).Index(i)
		errs = append(errs, validateWeight(may[i].Weight, at.Child("weight"))...)
		errs = append(errs, validatePodTerm(&may[i].PodAffinityTerm, at.Child("podAffinityTerm"))...)
	}
	return errs
}

func validatePodTerm(t *corev1.PodAffinityTerm, p *field.Path) field.ErrorList {
	errs := validateTopologyKey(t.TopologyKey, p.Child("topologyKey"))
	errs = append(errs, validateSelector(t.LabelSelector, p.Child("labelSelector"))...)
	errs = append(errs, validateSelector(t.NamespaceSelector, p.Child("namespaceSelector"))...)
	for i, name := range t.Namespaces {
		errs = append(errs, check.Invalid(p.Child("namespaces").Index(i), name, validation.IsDNS1123Label(name))...)
	}
	return append(errs, validateOwnLabels(labelKeys{t.MatchLabelKeys, t.MismatchLabelKeys, t.LabelSelector}, p)...)
}
