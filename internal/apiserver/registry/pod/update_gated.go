package pod

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateGatedPlacement validates the node selector and node affinity of a pod with scheduling gates: updates may only
// add requirements.
func validateGatedPlacement(now, was *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for key, value := range was.NodeSelector {
		if kept, ok := now.NodeSelector[key]; !ok || kept != value {
			errs = append(errs, field.Invalid(p.Child("nodeSelector"), now.NodeSelector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)"))
			break
		}
	}
	old, terms := nodeTerms(was.Affinity), nodeTerms(now.Affinity)
	at := p.Child("affinity", "nodeAffinity", required, "nodeSelectorTerms")
	switch {
	case len(old) == 0:
		return errs
	case len(old) != len(terms):
		return append(errs, field.Invalid(at, terms, "no additions/deletions to non-empty NodeSelectorTerms list are allowed"))
	}
	for i := range old {
		if !narrows(&terms[i], &old[i]) {
			errs = append(errs, field.Invalid(at.Index(i), terms[i], "only additions are allowed (no mutations or deletions)"))
		}
	}
	return errs
}

func nodeTerms(a *corev1.Affinity) []corev1.NodeSelectorTerm {
	if n := nodeAffinity(a); n != nil && n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		return n.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	return nil
}

func nodeAffinity(a *corev1.Affinity) *corev1.NodeAffinity {
	if a == nil {
		return nil
	}
	return a.NodeAffinity
}

// narrows reports whether term starts with all requirements of old. An empty term selects no node, so it must stay empty.
func narrows(term, old *corev1.NodeSelectorTerm) bool {
	if len(old.MatchExpressions)+len(old.MatchFields) == 0 {
		return len(term.MatchExpressions)+len(term.MatchFields) == 0
	}
	return startsWith(term.MatchExpressions, old.MatchExpressions) && startsWith(term.MatchFields, old.MatchFields)
}

func startsWith(list, start []corev1.NodeSelectorRequirement) bool {
	return len(list) >= len(start) && (len(start) == 0 || apiequality.Semantic.DeepEqual(list[:len(start)], start))
}

// restoreGatedPlacement restores the fields that validateGatedPlacement has validated. It does not restore pod
// affinity, which may not change, because its selectors were completed when the pod was created.
func restoreGatedPlacement(rest, was *corev1.PodSpec) {
	rest.NodeSelector = was.NodeSelector
	old := nodeAffinity(was.Affinity)
	if apiequality.Semantic.DeepEqual(nodeAffinity(rest.Affinity), old) {
		return
	}
	if rest.Affinity == nil {
		rest.Affinity = &corev1.Affinity{}
	}
	rest.Affinity.NodeAffinity = old
	if was.Affinity == nil && *rest.Affinity == (corev1.Affinity{}) {
		rest.Affinity = nil
	}
}
