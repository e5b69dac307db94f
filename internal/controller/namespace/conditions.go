package namespace

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// noProblemConditions are the conditions of a namespace whose deletion has no problem, in the order in which the status has
// them. Stint knows its kinds without discovery, so the first two never change.
var noProblemConditions = []corev1.NamespaceCondition{
	{Type: corev1.NamespaceDeletionDiscoveryFailure,
		Reason: "ResourcesDiscovered", Message: "All resources successfully discovered"},
	{Type: corev1.NamespaceDeletionGVParsingFailure,
		Reason: "ParsedGroupVersions", Message: "All legacy kube types successfully parsed"},
	{Type: corev1.NamespaceDeletionContentFailure,
		Reason: "ContentDeleted", Message: "All content successfully deleted, may be waiting on finalization"},
	{Type: corev1.NamespaceContentRemaining,
		Reason: "ContentRemoved", Message: "All content successfully removed"},
	{Type: corev1.NamespaceFinalizersRemaining,
		Reason: "ContentHasNoFinalizers", Message: "All content-preserving finalizers finished"},
}

// Conditions returns the conditions that say what holds up the deletion of a namespace: what is left in it, and what
// failed.
func Conditions[T metav1.Object](left []Content[T], failures []error) []corev1.NamespaceCondition {
	conditions := slices.Clone(noProblemConditions)
	for i := range conditions {
		c := &conditions[i]
		c.Status = corev1.ConditionFalse
		reason, message := "", ""
		switch c.Type {
		case corev1.NamespaceDeletionContentFailure:
			reason, message = "ContentDeletionFailed", failureMessage(failures)
		case corev1.NamespaceContentRemaining:
			reason, message = "SomeResourcesRemain", contentMessage(left)
		case corev1.NamespaceFinalizersRemaining:
			reason, message = "SomeFinalizersRemain", finalizerMessage(left)
		}
		if message != "" {
			c.Status, c.Reason, c.Message = corev1.ConditionTrue, reason, message
		}
	}
	return conditions
}

func failureMessage(failures []error) string {
	if len(failures) == 0 {
		return ""
	}
	var lines []string
	for _, err := range failures {
		lines = append(lines, err.Error())
	}
	return fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(failures), sorted(lines))
}

func contentMessage[T metav1.Object](left []Content[T]) string {
	var lines []string
	for _, c := range left {
		lines = append(lines,
			fmt.Sprintf("%s.%s has %d resource instances", c.Resource.Resource, c.Resource.Group, len(c.Objects)))
	}
	if len(lines) == 0 {
		return ""
	}
	return "Some resources are remaining: " + sorted(lines)
}

func finalizerMessage[T metav1.Object](left []Content[T]) string {
	holders := map[string]int{}
	for _, c := range left {
		for _, obj := range c.Objects {
			for _, f := range obj.GetFinalizers() {
				holders[f]++
			}
		}
	}
	var lines []string
	for f, n := range holders {
		lines = append(lines, fmt.Sprintf("%s in %d resource instances", f, n))
	}
	if len(lines) == 0 {
		return ""
	}
	return "Some content in the namespace has finalizers remaining: " + sorted(lines)
}

// sorted joins lines in an order that does not change from call to call, so that an unchanged condition is not written
// again.
func sorted(lines []string) string {
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// merge adds the conditions in want to those in have, or replaces them, and reports whether that changes any.
func merge(have, want []corev1.NamespaceCondition, now metav1.Time) (merged []corev1.NamespaceCondition, changed bool) {
	merged = slices.Clone(have)
	for _, c := range want {
		c.LastTransitionTime = now
		i := slices.IndexFunc(merged, func(m corev1.NamespaceCondition) bool { return m.Type == c.Type })
		if i < 0 {
			merged, changed = append(merged, c), true
			continue
		}
		if merged[i].Status == c.Status {
			c.LastTransitionTime = merged[i].LastTransitionTime
		}
		if merged[i] != c {
			merged[i], changed = c, true
		}
	}
	return merged, changed
}
