package job

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// defaultBackoffLimit is the backoff limit of Jobs without one.
const defaultBackoffLimit = 6

// SetDefaults sets the defaults of a Job. It leaves manualSelector unset, so that users who read a Job do not think that
// they have to set it.
func SetDefaults(job *batchv1.Job) {
	spec := &job.Spec
	pod.SetTemplateDefaults(&spec.Template)
	if len(job.Labels) == 0 && len(spec.Template.Labels) > 0 {
		// The Job and its template share the map until prepareForCreate or prepareForUpdate, so that the labels that are
		// generated for the pods become labels of a Job without own labels, too.
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

// setDefaultCounts sets parallelism, completions and backoffLimit. It leaves completions unset if parallelism is set: such
// a Job is a work queue.
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
	// A pod failure policy applies only to terminated pods, so a replacement has to wait until its pod has terminated.
	if spec.PodFailurePolicy != nil {
		return batchv1.Failed
	}
	return batchv1.TerminatingOrFailed
}

// SetPodFailurePolicyDefaults sets the defaults of a pod failure policy.
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
