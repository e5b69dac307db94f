package model_test

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// This file describes objects in histories.

func describeStatus(j *batchv1.Job) string {
	s := &j.Status
	text := fmt.Sprintf("active=%d succeeded=%d failed=%d", s.Active, s.Succeeded, s.Failed)
	if u := s.UncountedTerminatedPods; u != nil && len(u.Succeeded)+len(u.Failed) > 0 {
		text += fmt.Sprintf(" uncounted=%v/%v", u.Succeeded, u.Failed)
	}
	if s.CompletedIndexes != "" {
		text += " completedIndexes=" + s.CompletedIndexes
	}
	if s.FailedIndexes != nil && *s.FailedIndexes != "" {
		text += " failedIndexes=" + *s.FailedIndexes
	}
	for _, c := range s.Conditions {
		text += fmt.Sprintf(" %s=%s(%s)", c.Type, c.Status, c.Reason)
	}
	return text
}

func describePod(p *corev1.Pod) string {
	text := fmt.Sprintf("%s %s %s", p.Name, p.UID, p.Status.Phase)
	if i, ok := p.Annotations[batchv1.JobCompletionIndexAnnotation]; ok {
		text += " index " + i
	}
	if p.DeletionTimestamp != nil {
		text += " terminating"
	}
	if len(p.Finalizers) > 0 {
		text += " held"
	}
	if ref := metav1.GetControllerOfNoCopy(p); ref != nil {
		text += " of " + string(ref.UID)
	}
	return text
}

func describeSpec(j *batchv1.Job) string {
	text := fmt.Sprintf("%s %s", j.UID, ptr.Deref(j.Spec.CompletionMode, ""))
	add := func(name string, value any) { text += fmt.Sprintf(" %s=%v", name, value) }
	addPtr(add, "completions", j.Spec.Completions)
	addPtr(add, "parallelism", j.Spec.Parallelism)
	addPtr(add, "backoffLimit", j.Spec.BackoffLimit)
	addPtr(add, "backoffLimitPerIndex", j.Spec.BackoffLimitPerIndex)
	addPtr(add, "maxFailedIndexes", j.Spec.MaxFailedIndexes)
	addPtr(add, "deadline", j.Spec.ActiveDeadlineSeconds)
	addPtr(add, "suspend", j.Spec.Suspend)
	addPtr(add, "manualSelector", j.Spec.ManualSelector)
	addPtr(add, "managedBy", j.Spec.ManagedBy)
	addPtr(add, "replace", j.Spec.PodReplacementPolicy)
	for _, key := range sortedKeys(j.Annotations) {
		add(key, j.Annotations[key])
	}
	add("restart", j.Spec.Template.Spec.RestartPolicy)
	if policy := j.Spec.SuccessPolicy; policy != nil {
		for _, r := range policy.Rules {
			text += " success:"
			addPtr(add, "indexes", r.SucceededIndexes)
			addPtr(add, "count", r.SucceededCount)
		}
	}
	if policy := j.Spec.PodFailurePolicy; policy != nil {
		for _, r := range policy.Rules {
			text += fmt.Sprintf(" on failure: %s %v %v", r.Action, r.OnExitCodes, r.OnPodConditions)
		}
	}
	return text
}

func addPtr[T any](add func(string, any), name string, p *T) {
	if p != nil {
		add(name, *p)
	}
}
