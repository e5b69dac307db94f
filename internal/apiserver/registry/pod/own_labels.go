package pod

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// selectByOwnLabels adds the requirements of matchLabelKeys and mismatchLabelKeys, with the values of this pod's labels, to
// the label selectors, so that a scheduler needs to read only these.
func selectByOwnLabels(pod *corev1.Pod) {
	for i := range pod.Spec.TopologySpreadConstraints {
		c := &pod.Spec.TopologySpreadConstraints[i]
		selectLabels(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
	}
	for _, t := range podTerms(pod.Spec.Affinity) {
		selectLabels(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn, pod.Labels)
		selectLabels(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, pod.Labels)
	}
}

// podTerms returns all terms of pod affinity and anti-affinity.
func podTerms(a *corev1.Affinity) []*corev1.PodAffinityTerm {
	if a == nil {
		return nil
	}
	var terms []*corev1.PodAffinityTerm
	collect := func(may []corev1.WeightedPodAffinityTerm, must []corev1.PodAffinityTerm) {
		for i := range may {
			terms = append(terms, &may[i].PodAffinityTerm)
		}
		for i := range must {
			terms = append(terms, &must[i])
		}
	}
	if p := a.PodAffinity; p != nil {
		collect(p.PreferredDuringSchedulingIgnoredDuringExecution, p.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		collect(p.PreferredDuringSchedulingIgnoredDuringExecution, p.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	return terms
}

func selectLabels(s *metav1.LabelSelector, keys []string, operator metav1.LabelSelectorOperator, labels map[string]string) {
	if s == nil {
		return // nil selects no pod
	}
	for _, key := range keys {
		if value, ok := labels[key]; ok {
			s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}})
		}
	}
}
