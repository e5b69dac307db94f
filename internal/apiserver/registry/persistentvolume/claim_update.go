package persistentvolume

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// validateClaimUpdate allows a claim to be bound and to get a class. The rest of its spec is immutable but for the request of
// a bound claim: its class decides whether it may grow.
func validateClaimUpdate(c, was *corev1.PersistentVolumeClaim) field.ErrorList {
	p := field.NewPath("spec")
	errs := pod.ValidateClaimSpec(&c.Spec, p)
	errs = append(errs, validateClassAnnotation(c, was)...)
	if !apiequality.Semantic.DeepEqual(c.Spec, allowedClaimSpec(c, was)) {
		errs = append(errs, field.Forbidden(p, "spec is immutable after creation except resources.requests and "+
			"volumeAttributesClassName for bound claims: delete the claim and create it anew"))
	}
	errs = append(errs, validateSize(c, was, p.Child("resources", "requests", "storage"))...)
	return append(errs, apivalidation.ValidateImmutableField(c.Spec.VolumeMode, was.Spec.VolumeMode, p.Child("volumeMode"))...)
}

// allowedClaimSpec returns the spec of a claim with those changes that are allowed.
func allowedClaimSpec(c, was *corev1.PersistentVolumeClaim) corev1.PersistentVolumeClaimSpec {
	spec := *was.Spec.DeepCopy()
	if spec.VolumeName == "" {
		spec.VolumeName = c.Spec.VolumeName
	}
	annotated, set := was.Annotations[corev1.BetaStorageClassAnnotation]
	if spec.StorageClassName == nil && (!set || ptr.Deref(c.Spec.StorageClassName, "") == annotated) {
		spec.StorageClassName = c.Spec.StorageClassName
	}
	if was.Status.Phase == corev1.ClaimBound {
		spec.Resources.Requests, spec.VolumeAttributesClassName = c.Spec.Resources.Requests, c.Spec.VolumeAttributesClassName
	}
	return spec
}

// validateClassAnnotation lets the annotation that named the class of old become the field, and nothing else.
func validateClassAnnotation(c, was *corev1.PersistentVolumeClaim) field.ErrorList {
	now, set := c.Annotations[corev1.BetaStorageClassAnnotation]
	before, wasSet := was.Annotations[corev1.BetaStorageClassAnnotation]
	if now == before && set == wasSet || !set && ptr.Deref(c.Spec.StorageClassName, "") == before {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "annotations", corev1.BetaStorageClassAnnotation), now, "field is immutable")}
}

// validateSize refuses a request that is less than before and no more than what the claim has.
func validateSize(c, was *corev1.PersistentVolumeClaim, p *field.Path) field.ErrorList {
	size, before := c.Spec.Resources.Requests[corev1.ResourceStorage], was.Spec.Resources.Requests[corev1.ResourceStorage]
	has := was.Status.Capacity[corev1.ResourceStorage]
	if size.Cmp(before) < 0 && size.Cmp(has) <= 0 {
		return field.ErrorList{field.Forbidden(p, "field can not be less than status.capacity")}
	}
	return nil
}
