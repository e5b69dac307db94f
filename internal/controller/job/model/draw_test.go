package model_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

const jobName = "j"

func aJob() *wrappers.JobWrapper { return wrappers.MakeJob(jobName) }

func maybe[V any](t *rapid.T, what string, g *rapid.Generator[V]) *V {
	if !rapid.Bool().Draw(t, "with "+what) {
		return nil
	}
	return ptr.To(g.Draw(t, what))
}

// drawJob draws any Job that the API allows.
func drawJob(t *rapid.T) *batchv1.Job {
	j := aJob().Obj()
	j.Spec.Parallelism = maybe(t, "parallelism", rapid.Int32Range(0, 4))
	j.Spec.BackoffLimit = maybe(t, "backoffLimit", rapid.Int32Range(0, 3))
	j.Spec.Completions = maybe(t, "completions", rapid.Int32Range(0, 6))
	if simulated.OneIn(t, 3, "activeDeadlineSeconds") {
		j.Spec.ActiveDeadlineSeconds = ptr.To(rapid.Int64Range(1, 3000).Draw(t, "activeDeadlineSeconds"))
	}
	if simulated.OneIn(t, 4, "suspend") {
		j.Spec.Suspend = ptr.To(true)
	}
	if simulated.OneIn(t, 5, "manualSelector") {
		wrappers.FromJob(j).ManualSelector("app", "j")
	}
	if simulated.OneIn(t, 40, "managedBy") {
		j.Spec.ManagedBy = ptr.To("example.com/other")
	}
	if rapid.Bool().Draw(t, "indexed") {
		drawIndexed(t, j)
	}
	drawEnding(t, j)
	drawAnnotations(t, j)
	return j
}

func drawIndexed(t *rapid.T, j *batchv1.Job) {
	j.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	j.Spec.Completions = ptr.To(rapid.Int32Range(0, 6).Draw(t, "completions"))
	if rapid.Bool().Draw(t, "per index") {
		j.Spec.BackoffLimitPerIndex = ptr.To(rapid.Int32Range(0, 2).Draw(t, "backoffLimitPerIndex"))
		if rapid.Bool().Draw(t, "max failed") {
			j.Spec.MaxFailedIndexes = ptr.To(rapid.Int32Range(0, *j.Spec.Completions).Draw(t, "maxFailedIndexes"))
		}
	}
	if *j.Spec.Completions > 0 && simulated.OneIn(t, 3, "successPolicy") {
		j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rapid.SliceOfN(successRule(int(*j.Spec.Completions)), 1, 2).Draw(t, "rules")}
	}
}

func successRule(completions int) *rapid.Generator[batchv1.SuccessPolicyRule] {
	return rapid.Custom(func(t *rapid.T) batchv1.SuccessPolicyRule {
		r := batchv1.SuccessPolicyRule{}
		n := completions
		if rapid.Bool().Draw(t, "indexes") {
			indexes := rapid.SliceOfNDistinct(rapid.IntRange(0, completions-1), 1, completions, rapid.ID[int]).Draw(t, "succeededIndexes")
			r.SucceededIndexes = ptr.To(formatIndexes(indexes))
			n = len(indexes)
		}
		if r.SucceededIndexes == nil || rapid.Bool().Draw(t, "count") {
			r.SucceededCount = ptr.To(int32(rapid.IntRange(1, n).Draw(t, "succeededCount")))
		}
		return r
	})
}

// drawEnding draws what the Job does about failures.
func drawEnding(t *rapid.T, j *batchv1.Job) {
	perIndex := j.Spec.BackoffLimitPerIndex != nil
	switch {
	case simulated.OneIn(t, 3, "podFailurePolicy"):
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rapid.SliceOfN(failureRule(perIndex), 1, 3).Draw(t, "rules")}
	case rapid.Bool().Draw(t, "replace ended only"):
		j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
	}
	if j.Spec.PodFailurePolicy == nil && !perIndex && simulated.OneIn(t, 4, "OnFailure") {
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	}
}

func failureRule(perIndex bool) *rapid.Generator[batchv1.PodFailurePolicyRule] {
	actions := []batchv1.PodFailurePolicyAction{
		batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailJob,
	}
	if perIndex {
		actions = append(actions, batchv1.PodFailurePolicyActionFailIndex)
	}
	return rapid.Custom(func(t *rapid.T) batchv1.PodFailurePolicyRule {
		r := batchv1.PodFailurePolicyRule{Action: rapid.SampledFrom(actions).Draw(t, "action")}
		if simulated.OneIn(t, 3, "condition") {
			r.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
			return r
		}
		r.OnExitCodes = &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: rapid.SampledFrom([]batchv1.PodFailurePolicyOnExitCodesOperator{
				batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn}).Draw(t, "operator"),
			Values: rapid.SampledFrom([][]int32{{42}, {1}, {1, 42}}).Draw(t, "values"),
		}
		if simulated.OneIn(t, 3, "container") {
			r.OnExitCodes.ContainerName = ptr.To("c")
		}
		return r
	})
}
