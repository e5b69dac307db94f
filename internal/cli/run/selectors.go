package run

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// podOptions select the pods that are shown to the user: all, or the failed ones.
func podOptions(show Logs, selector string) metav1.ListOptions {
	o := metav1.ListOptions{LabelSelector: selector}
	if show != LogsAll {
		o.FieldSelector = failedPods
	}
	return o
}

// watchedPods are podOptions that, in a run of few pods, also select pods that may wait.
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

// manyJobs is up to how many Jobs of a namespace the watch of pods selects by UID. With more it watches the pods of all Jobs.
const manyJobs = 50

// podSelectors return label selectors for the pods of Jobs. A Job with manualSelector needs one of its own.
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

// byNamespace groups Jobs by namespace.
func byNamespace(jobs []*batchv1.Job) map[string][]*batchv1.Job {
	sorted := map[string][]*batchv1.Job{}
	for _, job := range jobs {
		sorted[job.Namespace] = append(sorted[job.Namespace], job)
	}
	return sorted
}
