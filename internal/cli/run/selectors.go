package run

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// podOptions select pods, but for those that the user will not hear of.
func podOptions(show Logs, selector string) metav1.ListOptions {
	o := metav1.ListOptions{LabelSelector: selector}
	if show != LogsAll {
		o.FieldSelector = failedPods
	}
	return o
}

// watchedPods are podOptions with, where they are few, the pods that may be said to wait.
func watchedPods(show Logs, selector string, few bool) metav1.ListOptions {
	o := podOptions(show, selector)
	if few && o.FieldSelector != "" {
		o.FieldSelector = unsucceededPods
	}
	return o
}

// unsucceededPods selects pods that did not succeed.
var unsucceededPods = fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)).String()

// failedPods selects pods that failed.
var failedPods = fields.OneTermEqualSelector("status.phase", string(corev1.PodFailed)).String()

// manyJobs of one namespace are followed by one watch over all pods instead of one that lists them.
const manyJobs = 50

// podSelectors select the pods of Jobs. A Job with a selector of its own needs a watch of its own.
func podSelectors(jobs []*batchv1.Job) []string {
	var selectors, uids []string
	for _, job := range jobs {
		if job.Spec.ManualSelector != nil && *job.Spec.ManualSelector {
			selectors = append(selectors, metav1.FormatLabelSelector(job.Spec.Selector))
			continue
		}
		uids = append(uids, string(job.UID))
	}
	slices.Sort(uids)
	switch {
	case len(uids) > manyJobs:
		selectors = append(selectors, batchv1.ControllerUidLabel)
	case len(uids) > 0:
		selectors = append(selectors, batchv1.ControllerUidLabel+" in ("+strings.Join(uids, ",")+")")
	}
	return selectors
}

// byNamespace sorts Jobs by their namespaces.
func byNamespace(jobs []*batchv1.Job) map[string][]*batchv1.Job {
	sorted := map[string][]*batchv1.Job{}
	for _, job := range jobs {
		sorted[job.Namespace] = append(sorted[job.Namespace], job)
	}
	return sorted
}
