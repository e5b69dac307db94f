package scheduledjob

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// BuildJob builds the Job of a run. It fails only if the run's overrides name a container that the template lacks.
func BuildJob(sj *stintv1.ScheduledJob, template *corev1.PodTemplateSpec, e stintv1.Execution) (*batchv1.Job, error) {
	pods, err := buildTemplate(sj, template, e)
	if err != nil {
		return nil, err
	}
	annotations := maps.Clone(sj.Annotations)
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:            JobName(sj.Name, e.Tag),
			Namespace:       sj.Namespace,
			Labels:          withRunLabels(sj.Labels, sj, e),
			Annotations:     annotations,
			OwnerReferences: []metav1.OwnerReference{controllerRef(sj)},
		},
		Spec: batchv1.JobSpec{
			CompletionMode:       ptr.To(batchv1.IndexedCompletion),
			Completions:          ptr.To(podCount(sj)),
			Parallelism:          ptr.To(podCount(sj)),
			BackoffLimitPerIndex: ptr.To(maxRestart(sj)),
			ManagedBy:            sj.Spec.ManagedBy,
			Template:             *pods,
		},
	}
	if ptr.Deref(sj.Spec.ManualSelector, false) {
		job.Spec.ManualSelector, job.Spec.Selector = ptr.To(true), selectorOf(sj, e)
	}
	return job, nil
}

func controllerRef(sj *stintv1.ScheduledJob) metav1.OwnerReference {
	return *metav1.NewControllerRef(sj, stintv1.SchemeGroupVersion.WithKind("ScheduledJob"))
}

func withRunLabels(labels map[string]string, sj *stintv1.ScheduledJob, e stintv1.Execution) map[string]string {
	all := map[string]string{}
	maps.Copy(all, labels)
	all[stintv1.LabelJobName], all[stintv1.LabelJobTag] = sj.Name, e.Tag
	return all
}

// selectorOf narrows the selector of the spec to the pods of one run: runs must not count each other's pods.
func selectorOf(sj *stintv1.ScheduledJob, e stintv1.Execution) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	if sj.Spec.Selector != nil {
		selector = sj.Spec.Selector.DeepCopy()
	}
	selector.MatchLabels = withRunLabels(selector.MatchLabels, sj, e)
	return selector
}

func buildTemplate(sj *stintv1.ScheduledJob, template *corev1.PodTemplateSpec, e stintv1.Execution) (*corev1.PodTemplateSpec, error) {
	pods := template.DeepCopy()
	if err := Override(pods, e.Overrides); err != nil {
		return nil, err
	}
	pods.Labels = withRunLabels(pods.Labels, sj, e)
	// Each restart is a new pod, so that the Job counts restarts exactly.
	pods.Spec.RestartPolicy = corev1.RestartPolicyNever
	pods.Spec.ActiveDeadlineSeconds = shorter(pods.Spec.ActiveDeadlineSeconds, sj.Spec.ExecTimeout)
	setPodIndexVariables(&pods.Spec, podCount(sj))
	return pods, nil
}

// shorter returns the smaller of two limits in seconds, nil meaning none. It ignores b below 1, which no pod can have as its
// activeDeadlineSeconds.
func shorter(a, b *int64) *int64 {
	switch {
	case b == nil || *b < 1:
		return a
	case a == nil:
		return ptr.To(*b)
	}
	return ptr.To(min(*a, *b))
}
