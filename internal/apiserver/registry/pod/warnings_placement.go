package pod

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// oldNodeLabels are deprecated labels of nodes with their replacements.
var oldNodeLabels = map[string]string{
	corev1.LabelFailureDomainBetaRegion:             corev1.LabelTopologyRegion,
	corev1.LabelFailureDomainBetaZone:               corev1.LabelTopologyZone,
	corev1.LabelInstanceType:                        corev1.LabelInstanceTypeStable,
	"beta.kubernetes.io/arch":                       corev1.LabelArchStable,
	"beta.kubernetes.io/os":                         corev1.LabelOSStable,
	"node-role.kubernetes.io/master":                "node-role.kubernetes.io/control-plane",
	"app.kubernetes.io/created-by":                  "",
	"scheduler.alpha.kubernetes.io/preferAvoidPods": "taints and tolerations",
}

// RenewedNodeLabel returns the key that has replaced a deprecated label of nodes; other keys are returned as they are.
func RenewedNodeLabel(key string) string {
	if instead := oldNodeLabels[key]; strings.Contains(instead, "/") {
		return instead
	}
	return key
}

func warnNodeLabel(key string, p *field.Path) []string {
	instead, old := oldNodeLabels[key]
	switch {
	case !old:
		return nil
	case instead == "":
		return []string{fmt.Sprintf("%s: %s is deprecated", p, key)}
	}
	return []string{fmt.Sprintf("%s: %s is deprecated: use %s instead", p, key, instead)}
}

const selectsNothing = "a null labelSelector results in matching no pod: write {} to match all"

// warnPlacement warns about deprecated labels of nodes, and about selectors that select nothing.
func warnPlacement(s *corev1.PodSpec, p *field.Path) []string {
	var warnings []string
	for _, key := range slices.Sorted(maps.Keys(s.NodeSelector)) {
		warnings = append(warnings, warnNodeLabel(key, p.Child("nodeSelector").Key(key))...)
	}
	for i := range s.TopologySpreadConstraints {
		c, at := &s.TopologySpreadConstraints[i], p.Child("topologySpreadConstraints").Index(i)
		warnings = append(warnings, warnNodeLabel(c.TopologyKey, at.Child("topologyKey"))...)
		if c.LabelSelector == nil {
			warnings = append(warnings, fmt.Sprintf("%s: %s", at.Child("labelSelector"), selectsNothing))
		}
	}
	if s.Affinity == nil {
		return warnings
	}
	p = p.Child("affinity")
	if s.Affinity.NodeAffinity != nil {
		warnings = append(warnings, warnNodeAffinity(s.Affinity.NodeAffinity, p.Child("nodeAffinity"))...)
	}
	if a := s.Affinity.PodAffinity; a != nil {
		warnings = append(warnings, warnPodAffinity(a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, p.Child("podAffinity"))...)
	}
	if a := s.Affinity.PodAntiAffinity; a != nil {
		warnings = append(warnings, warnPodAffinity(a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, p.Child("podAntiAffinity"))...)
	}
	return warnings
}

func warnNodeAffinity(a *corev1.NodeAffinity, p *field.Path) []string {
	var warnings []string
	if must := a.RequiredDuringSchedulingIgnoredDuringExecution; must != nil {
		warnings = WarnNodeSelector(must, p.Child(required))
	}
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		t, at := &a.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference, p.Child(preferred).Index(i).Child("preference")
		warnings = append(warnings, warnNodeTerm(t, at)...)
		for j, e := range t.MatchExpressions {
			for k, v := range e.Values {
				for _, msg := range validation.IsValidLabelValue(v) {
					warnings = append(warnings, fmt.Sprintf("%s: %s", at.Child("matchExpressions").Index(j).Child("values").Index(k), msg))
				}
			}
		}
	}
	return warnings
}

// WarnNodeSelector warns about deprecated labels of nodes.
func WarnNodeSelector(s *corev1.NodeSelector, p *field.Path) []string {
	var warnings []string
	for i := range s.NodeSelectorTerms {
		warnings = append(warnings, warnNodeTerm(&s.NodeSelectorTerms[i], p.Child("nodeSelectorTerms").Index(i))...)
	}
	return warnings
}

func warnNodeTerm(t *corev1.NodeSelectorTerm, p *field.Path) []string {
	var warnings []string
	for i, e := range t.MatchExpressions {
		warnings = append(warnings, warnNodeLabel(e.Key, p.Child("matchExpressions").Index(i).Child("key"))...)
	}
	return warnings
}

func warnPodAffinity(must []corev1.PodAffinityTerm, may []corev1.WeightedPodAffinityTerm, p *field.Path) []string {
	var warnings []string
	for i := range must {
		if must[i].LabelSelector == nil {
			warnings = append(warnings, fmt.Sprintf("%s: %s", p.Child(required).Index(i).Child("labelSelector"), selectsNothing))
		}
	}
	for i := range may {
		if may[i].PodAffinityTerm.LabelSelector == nil {
			warnings = append(warnings, fmt.Sprintf("%s: %s", p.Child(preferred).Index(i).Child("podAffinityTerm", "labelSelector"), selectsNothing))
		}
	}
	return warnings
}
