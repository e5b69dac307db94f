package job

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// defaultBackoffLimit is how many failed pods a Job survives when its author names no number.
const defaultBackoffLimit = 6

// SetDefaults fills in what the author left out. manualSelector stays unset, so that a reader of the Job does not
// wonder whether to write it.
func SetDefaults(job *batchv1.Job) {
	spec := &job.Spec
	pod.SetTemplateDefaults(&spec.Template)
	if len(job.Labels) == 0 && len(spec.Template.Labels) > 0 {
		// One map for both until a write is prepared: what is generated for the pods then is the Job's too, but only
		// where its author gave it no labels.
		job.Labels = spec.Template.Labels
	}
	SetPodFailurePolicyDefaults(spec.PodFailurePolicy)
	setDefaultCounts(spec)
	if spec.CompletionMode == nil {
		spec.CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
	}
	if spec.Suspend == nil {
		spec.Suspend = ptr.To(false)
	}
	if spec.PodReplacementPolicy == nil {
		spec.PodReplacementPolicy = ptr.To(defaultPodReplacementPolicy(spec))
	}
}

// setDefaultCounts leaves completions unset beside a given parallelism: that is a work queue.
func setDefaultCounts(spec *batchv1.JobSpec) {
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = ptr.To[int32](1)
	}
	if spec.Parallelism == nil {
		spec.Parallelism = ptr.To[int32](1)
	}
	if spec.BackoffLimit != nil {
		return
	}
	spec.BackoffLimit = ptr.To[int32](defaultBackoffLimit)
	if spec.BackoffLimitPerIndex != nil {
		spec.BackoffLimit = ptr.To[int32](math.MaxInt32)
	}
}

func defaultPodReplacementPolicy(spec *batchv1.JobSpec) batchv1.PodReplacementPolicy {
	// A failure policy judges terminal pods only, so their replacements have to wait for the verdict.
	if spec.PodFailurePolicy != nil {
		return batchv1.Failed
	}
	return batchv1.TerminatingOrFailed
}

// SetPodFailurePolicyDefaults fills in what the author of a policy left out.
func SetPodFailurePolicyDefaults(policy *batchv1.PodFailurePolicy) {
	if policy == nil {
		return
	}
	for _, rule := range policy.Rules {
		for i := range rule.OnPodConditions {
			if rule.OnPodConditions[i].Status == "" {
				rule.OnPodConditions[i].Status = corev1.ConditionTrue
			}
		}
	}
}
