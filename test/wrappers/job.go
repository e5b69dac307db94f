package wrappers

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// JobWrapper builds a Job.
type JobWrapper struct {
	metadata[*JobWrapper]
	podSpec[*JobWrapper]
	job *batchv1.Job
}

// MakeJob begins a Job with one container, whose pods are not restarted.
func MakeJob(name string) *JobWrapper {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}}
	job.Spec.Template.Spec = runOnce()
	return FromJob(job)
}

// FromJob wraps a Job, which it changes in place.
func FromJob(job *batchv1.Job) *JobWrapper {
	w := &JobWrapper{job: job}
	w.metadata = metadata[*JobWrapper]{w, &job.ObjectMeta}
	w.podSpec = podSpec[*JobWrapper]{w, &job.Spec.Template.Spec}
	return w
}

// Obj is the Job.
func (w *JobWrapper) Obj() *batchv1.Job { return w.job }

// With makes changes for which there is no method.
func (w *JobWrapper) With(changes ...func(*batchv1.Job)) *JobWrapper {
	for _, change := range changes {
		change(w.job)
	}
	return w
}

// Completions sets spec.completions.
func (w *JobWrapper) Completions(n int32) *JobWrapper {
	w.job.Spec.Completions = &n
	return w
}

// WorkQueue makes the Job one without completions.
func (w *JobWrapper) WorkQueue() *JobWrapper {
	w.job.Spec.Completions = nil
	return w
}

// Parallelism sets spec.parallelism.
func (w *JobWrapper) Parallelism(n int32) *JobWrapper {
	w.job.Spec.Parallelism = &n
	return w
}

// CompletionMode sets spec.completionMode.
func (w *JobWrapper) CompletionMode(mode batchv1.CompletionMode) *JobWrapper {
	w.job.Spec.CompletionMode = &mode
	return w
}

// Indexed sets spec.completionMode to Indexed.
func (w *JobWrapper) Indexed() *JobWrapper { return w.CompletionMode(batchv1.IndexedCompletion) }

// BackoffLimit sets spec.backoffLimit.
func (w *JobWrapper) BackoffLimit(n int32) *JobWrapper {
	w.job.Spec.BackoffLimit = &n
	return w
}

// BackoffLimitPerIndex sets spec.backoffLimitPerIndex and removes the limit of the whole Job.
func (w *JobWrapper) BackoffLimitPerIndex(n int32) *JobWrapper {
	w.job.Spec.BackoffLimit, w.job.Spec.BackoffLimitPerIndex = nil, &n
	return w
}

// MaxFailedIndexes sets spec.maxFailedIndexes.
func (w *JobWrapper) MaxFailedIndexes(n int32) *JobWrapper {
	w.job.Spec.MaxFailedIndexes = &n
	return w
}

// ActiveDeadlineSeconds sets spec.activeDeadlineSeconds.
func (w *JobWrapper) ActiveDeadlineSeconds(seconds int64) *JobWrapper {
	w.job.Spec.ActiveDeadlineSeconds = &seconds
	return w
}

// TTLSecondsAfterFinished sets spec.ttlSecondsAfterFinished.
func (w *JobWrapper) TTLSecondsAfterFinished(seconds int32) *JobWrapper {
	w.job.Spec.TTLSecondsAfterFinished = &seconds
	return w
}

// PodReplacementPolicy sets spec.podReplacementPolicy.
func (w *JobWrapper) PodReplacementPolicy(policy batchv1.PodReplacementPolicy) *JobWrapper {
	w.job.Spec.PodReplacementPolicy = &policy
	return w
}

// PodFailurePolicy sets the rules of spec.podFailurePolicy.
func (w *JobWrapper) PodFailurePolicy(rules ...batchv1.PodFailurePolicyRule) *JobWrapper {
	w.job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rules}
	return w
}

// SuccessPolicy sets the rules of spec.successPolicy.
func (w *JobWrapper) SuccessPolicy(rules ...batchv1.SuccessPolicyRule) *JobWrapper {
	w.job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules}
	return w
}

// Suspend sets spec.suspend.
func (w *JobWrapper) Suspend(suspend bool) *JobWrapper {
	w.job.Spec.Suspend = &suspend
	return w
}

// ManagedBy sets spec.managedBy.
func (w *JobWrapper) ManagedBy(controller string) *JobWrapper {
	w.job.Spec.ManagedBy = &controller
	return w
}

// Selector selects the pods by a label that the template gives them.
func (w *JobWrapper) Selector(key, value string) *JobWrapper {
	w.job.Spec.Selector = metav1.AddLabelToSelector(&metav1.LabelSelector{}, key, value)
	metav1.SetMetaDataLabel(&w.job.Spec.Template.ObjectMeta, key, value)
	return w
}

// ManualSelector sets spec.manualSelector and the selector.
func (w *JobWrapper) ManualSelector(key, value string) *JobWrapper {
	w.job.Spec.ManualSelector = ptr.To(true)
	return w.Selector(key, value)
}
