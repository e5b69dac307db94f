package model_test

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// The oracle is the Job API as its documentation describes it. It uses none of the code that is tested.

func holds(j *batchv1.Job, kind batchv1.JobConditionType) bool { return reason(j, kind) != "" }

// reason returns the reason of a condition that is true, or its type if it has none. It returns "" for any other condition.
func reason(j *batchv1.Job, kind batchv1.JobConditionType) string {
	for _, c := range j.Status.Conditions {
		if c.Type == kind && c.Status == corev1.ConditionTrue {
			if c.Reason == "" {
				return string(kind)
			}
			return c.Reason
		}
	}
	return ""
}

func finished(j *batchv1.Job) bool {
	return holds(j, batchv1.JobComplete) || holds(j, batchv1.JobFailed)
}

// isDecided reports whether the status says how the Job will finish.
func isDecided(j *batchv1.Job) bool {
	return holds(j, batchv1.JobSuccessCriteriaMet) || holds(j, batchv1.JobFailureTarget) || finished(j)
}

func managed(j *batchv1.Job) bool {
	return ptr.Deref(j.Spec.ManagedBy, batchv1.JobControllerName) == batchv1.JobControllerName
}

func indexed(j *batchv1.Job) bool {
	return ptr.Deref(j.Spec.CompletionMode, "") == batchv1.IndexedCompletion
}

func suspended(j *batchv1.Job) bool { return ptr.Deref(j.Spec.Suspend, false) }

func hasFinalizer(p *corev1.Pod) bool {
	return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer)
}

func active(p *corev1.Pod) bool { return !ended(p) && p.DeletionTimestamp == nil }

func controlledBy(p *corev1.Pod, j *batchv1.Job) bool {
	ref := metav1.GetControllerOfNoCopy(p)
	return ref != nil && ref.UID == j.UID
}

func selects(j *batchv1.Job, p *corev1.Pod) bool {
	s, err := metav1.LabelSelectorAsSelector(j.Spec.Selector)
	return err == nil && s.Matches(labels.Set(p.Labels))
}

// judged returns the action of the first rule of the pod failure policy that matches a failed pod, or Count.
func judged(j *batchv1.Job, p *corev1.Pod) batchv1.PodFailurePolicyAction {
	if j.Spec.PodFailurePolicy != nil {
		for _, r := range j.Spec.PodFailurePolicy.Rules {
			if (r.OnExitCodes != nil && matchesCode(r.OnExitCodes, p)) || matchesCondition(r.OnPodConditions, p) {
				return r.Action
			}
		}
	}
	return batchv1.PodFailurePolicyActionCount
}

func matchesCode(want *batchv1.PodFailurePolicyOnExitCodesRequirement, p *corev1.Pod) bool {
	for _, c := range p.Status.ContainerStatuses {
		if c.State.Terminated == nil || c.State.Terminated.ExitCode == 0 || ptr.Deref(want.ContainerName, c.Name) != c.Name {
			continue
		}
		if slices.Contains(want.Values, c.State.Terminated.ExitCode) == (want.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
			return true
		}
	}
	return false
}

func matchesCondition(want []batchv1.PodFailurePolicyOnPodConditionsPattern, p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if slices.Contains(want, batchv1.PodFailurePolicyOnPodConditionsPattern{Type: c.Type, Status: c.Status}) {
			return true
		}
	}
	return false
}

// judgesTerminating reports whether a terminating pod of the Job counts as failed.
func judgesTerminating(j *batchv1.Job) bool {
	return j.Spec.PodFailurePolicy == nil && ptr.Deref(j.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed) == batchv1.TerminatingOrFailed
}

// failedPod reports whether this version of p is a failure of the Job.
func failedPod(j *batchv1.Job, p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed ||
		(p.DeletionTimestamp != nil && p.Status.Phase != corev1.PodSucceeded && judgesTerminating(j))
}

// criteriaMet reports whether a rule of the success policy is satisfied.
func criteriaMet(j *batchv1.Job, succeeded map[int]bool) bool {
	if j.Spec.SuccessPolicy == nil {
		return false
	}
	return slices.ContainsFunc(j.Spec.SuccessPolicy.Rules, func(r batchv1.SuccessPolicyRule) bool {
		eligible := succeeded
		wanted := len(succeeded) + 1
		if r.SucceededIndexes != nil {
			named := indexSet(*r.SucceededIndexes)
			wanted, eligible = len(named), map[int]bool{}
			for i := range named {
				if succeeded[i] {
					eligible[i] = true
				}
			}
		}
		if r.SucceededCount != nil {
			wanted = min(wanted, int(*r.SucceededCount))
		}
		return len(eligible) >= wanted
	})
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}
