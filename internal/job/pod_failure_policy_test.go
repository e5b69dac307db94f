package job

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestPodFailurePolicy(t *testing.T) {
	onCode := func(action batchv1.PodFailurePolicyAction, op batchv1.PodFailurePolicyOnExitCodesOperator, container *string, codes ...int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: container, Operator: op, Values: codes}}
	}
	onCondition := func(action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}}
	}
	disrupted := corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}
	const in, notIn = batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn
	const failJob, ignore, count = batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount
	tests := map[string]struct {
		rules   []batchv1.PodFailurePolicyRule
		pod     *corev1.Pod
		want    batchv1.PodFailurePolicyAction
		message string
	}{
		"no rule matches": {rules: []batchv1.PodFailurePolicyRule{onCode(ignore, in, nil, 2)}, pod: aPod("p").Exited(1, at(0)).Obj()},
		"an exit code in the list": {
			rules: []batchv1.PodFailurePolicyRule{onCode(failJob, in, nil, 2, 42)}, pod: aPod("p").Exited(42, at(0)).Obj(), want: failJob,
			message: "Container c for pod ns/p failed with exit code 42 matching FailJob rule at index 0",
		},
		"an exit code not in the list": {
			rules: []batchv1.PodFailurePolicyRule{onCode(ignore, notIn, nil, 2)}, pod: aPod("p").Exited(1, at(0)).Obj(), want: ignore,
			message: "Container c for pod ns/p failed with exit code 1 matching Ignore rule at index 0",
		},
		"exit code 0 matches nothing": {
			rules: []batchv1.PodFailurePolicyRule{onCode(ignore, notIn, nil, 2)},
			pod:   aPod("p").Exited(0, at(0)).Phase(corev1.PodFailed).Obj(),
		},
		"another container's exit code": {
			rules: []batchv1.PodFailurePolicyRule{onCode(ignore, in, ptr.To("d"), 1)}, pod: aPod("p").Exited(1, at(0)).Obj(),
		},
		"the first of two rules wins": {
			rules: []batchv1.PodFailurePolicyRule{onCode(count, in, nil, 1), onCode(failJob, in, nil, 1)},
			pod:   aPod("p").Exited(1, at(0)).Obj(), want: count,
			message: "Container c for pod ns/p failed with exit code 1 matching Count rule at index 0",
		},
		"a condition": {
			rules: []batchv1.PodFailurePolicyRule{onCode(count, in, nil, 3), onCondition(failJob)},
			pod:   aPod("p").Exited(1, at(0)).Conditions(disrupted).Obj(), want: failJob,
			message: "Pod ns/p has condition DisruptionTarget matching FailJob rule at index 1",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j := aJob().PodFailurePolicy(tt.rules...).Obj()
			if got := matchFailurePolicy(j, tt.pod); got.action != tt.want || got.message != tt.message {
				t.Errorf("match %+v, want %q %q", got, tt.want, tt.message)
			}
		})
	}
}

func TestIgnoredFailuresLoseTheirFinalizerUncounted(t *testing.T) {
	j := aJob().BackoffLimit(0).PodFailurePolicy(batchv1.PodFailurePolicyRule{
		Action:      batchv1.PodFailurePolicyActionIgnore,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{1}},
	}).Obj()
	d := Decide(observed(j, aPod("p").Exited(1, at(0)).Obj()))
	next, _ := d.Status(Outcome{})
	if len(d.RemoveFinalizer) != 1 || len(next.UncountedTerminatedPods.Failed) != 0 || len(next.Conditions) != 0 {
		t.Errorf("removes finalizers of %v, status %+v", names(d.RemoveFinalizer), next)
	}
	if d.Counts.PolicyActions[batchv1.PodFailurePolicyActionIgnore] != 1 {
		t.Errorf("actions %v", d.Counts.PolicyActions)
	}
}
