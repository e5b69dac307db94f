package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// validateTemplateUpdate refuses changes of the template, except of scheduling directives, resources and metadata while
// the Job is suspended.
func validateTemplateUpdate(template *corev1.PodTemplateSpec, old *batchv1.Job, p *field.Path) field.ErrorList {
	if !templateMutable(old) {
		return field.ErrorList{immutable(p, "create a Job under another name instead; where its pods run and their "+
			"resources can change while the Job is suspended and has no active pods")}
	}
	kept := old.Spec.Template.Spec.DeepCopy()
	copySchedulingDirectives(kept, &template.Spec)
	copyResources(kept.Containers, template.Spec.Containers)
	copyResources(kept.InitContainers, template.Spec.InitContainers)
	if equality.Semantic.DeepEqual(*kept, template.Spec) {
		return nil
	}
	return field.ErrorList{immutable(p.Child("spec"), "while the Job is suspended, only nodeSelector, node affinity, "+
		"tolerations, schedulingGates and the containers' resources can change")}
}

// templateMutable reports whether the Job has no pod of the old template, and will get none before its controller
// observes the new one. A Job that has started gets the condition Suspended when its controller has deleted its active
// pods.
func templateMutable(old *batchv1.Job) bool {
	if !ptr.Deref(old.Spec.Suspend, false) || old.Status.Active > 0 {
		return false
	}
	return old.Status.StartTime == nil || hasCondition(&old.Status, batchv1.JobSuspended)
}

// copySchedulingDirectives copies the fields that decide on which node a pod may run, and when.
func copySchedulingDirectives(to, from *corev1.PodSpec) {
	to.NodeSelector = from.NodeSelector
	to.Tolerations = from.Tolerations
	to.SchedulingGates = from.SchedulingGates
	if equality.Semantic.DeepEqual(podAffinities(to.Affinity), podAffinities(from.Affinity)) {
		to.Affinity = from.Affinity
	}
}

// podAffinities returns an affinity without node affinity.
func podAffinities(a *corev1.Affinity) corev1.Affinity {
	if a == nil {
		return corev1.Affinity{}
	}
	return corev1.Affinity{PodAffinity: a.PodAffinity, PodAntiAffinity: a.PodAntiAffinity}
}

// copyResources copies the resources of containers that have the same position and name.
func copyResources(to, from []corev1.Container) {
	if len(to) != len(from) {
		return
	}
	for i := range to {
		if to[i].Name == from[i].Name {
			to[i].Resources = from[i].Resources
		}
	}
}
