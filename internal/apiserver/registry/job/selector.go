package job

import (
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// The labels of a Job's pods. The second label of each list has no prefix. It is older, and some tools still read it.
var (
	jobUIDLabels  = []string{batchv1.ControllerUidLabel, "controller-uid"}
	jobNameLabels = []string{batchv1.JobNameLabel, "job-name"}
)

// generateSelector gives a Job a selector that no other Job's pods match, and its pod template the labels for it. It
// keeps labels that the user has set; validation refuses them if they do not match. If the Job is a copy of another
// Job, it returns a name for that Job.
func generateSelector(job *batchv1.Job, uid types.UID) (other string) {
	if ptr.Deref(job.Spec.ManualSelector, false) {
		return ""
	}
	other = removeOtherSelector(job, uid)
	setMissing(&job.Spec.Template.Labels, generatedLabels(job.Name, uid))
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{}
	}
	setMissing(&job.Spec.Selector.MatchLabels, map[string]string{batchv1.ControllerUidLabel: string(uid)})
	return other
}

func generatedLabels(name string, uid types.UID) map[string]string {
	generated := map[string]string{}
	for _, key := range jobUIDLabels {
		generated[key] = string(uid)
	}
	for _, key := range jobNameLabels {
		generated[key] = name
	}
	return generated
}

// setMissing adds the entries of more whose keys are missing. It keeps the map, which two fields may share (see
// SetDefaults).
func setMissing(m *map[string]string, more map[string]string) {
	if *m == nil {
		*m = map[string]string{}
	}
	for key, value := range more {
		if _, ok := (*m)[key]; !ok {
			(*m)[key] = value
		}
	}
}

// validateSelector validates the selector of a new Job (old is nil) or of an updated one.
func validateSelector(job, old *batchv1.Job, p *field.Path) field.ErrorList {
	selector := job.Spec.Selector
	var errs field.ErrorList
	if selector == nil {
		errs = append(errs, field.Required(p.Child("selector"), selectorRemedy(job)))
	}
	errs = append(errs, metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, p.Child("selector"))...)
	asked, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return errs
	}
	podLabels := job.Spec.Template.Labels
	if !asked.Matches(labels.Set(podLabels)) {
		errs = append(errs, field.Invalid(p.Child("template", "metadata", "labels"), podLabels,
			"spec.selector does not match these labels of the pod template"))
	}
	if selector != nil && !ptr.Deref(job.Spec.ManualSelector, false) {
		errs = append(errs, validateGeneratedSelector(job, asked, requiredLabels(job, old), p)...)
	}
	return errs
}

func selectorRemedy(job *batchv1.Job) string {
	if ptr.Deref(job.Spec.ManualSelector, false) {
		return "a Job with manualSelector: true must have a selector that matches the labels of its template"
	}
	return "it was generated when the Job was created and stays: send the stored Job with your changes, as kubectl apply does"
}

// requiredLabels returns the generated labels that the pods must have. If the labels with prefix are missing in the
// stored Job, because it had manualSelector: true, they are not required.
func requiredLabels(job, old *batchv1.Job) map[string]string {
	required := generatedLabels(job.Name, job.UID)
	if old == nil {
		return required
	}
	for _, key := range []string{batchv1.ControllerUidLabel, batchv1.JobNameLabel} {
		if _, had := old.Spec.Template.Labels[key]; !had {
			delete(required, batchv1.ControllerUidLabel)
			delete(required, batchv1.JobNameLabel)
		}
	}
	return required
}

// validateGeneratedSelector refuses a selector or labels of the user that differ from the generated ones. Such a Job
// could adopt the pods of another Job.
func validateGeneratedSelector(job *batchv1.Job, asked labels.Selector, required map[string]string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if job.UID == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "uid"), "the selector is generated from it"))
	}
	labelsPath := p.Child("template", "metadata", "labels")
	for _, key := range slices.Sorted(maps.Keys(required)) {
		remedy := fmt.Sprintf("must be %q: leave this label out, it is generated for every Job", required[key])
		switch value, ok := job.Spec.Template.Labels[key]; {
		case !ok:
			errs = append(errs, field.Required(labelsPath.Key(key), remedy))
		case value != required[key]:
			errs = append(errs, field.Invalid(labelsPath.Key(key), value, remedy))
		}
	}
	if !asked.Matches(labels.Set(required)) {
		errs = append(errs, field.Invalid(p.Child("selector"), job.Spec.Selector,
			"the selector is generated: leave it out, or set spec.manualSelector to true if this Job shall select "+
				"pods by labels of your own that no other Job's pods carry"))
	}
	return errs
}
