package persistentvolume

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// validateClaimUpdate allows a claim to be bound and to get a class. The rest of its spec is immutable but for the request of
// a bound claim, which can grow in Kubernetes; volumes here cannot.
func validateClaimUpdate(c, was *corev1.PersistentVolumeClaim) field.ErrorList {
	p := field.NewPath("spec")
	errs := pod.ValidateClaimSpec(&c.Spec, p)
	like := was.Spec.DeepCopy()
	if like.VolumeName == "" {
		like.VolumeName = c.Spec.VolumeName
	}
	if like.StorageClassName == nil {
		like.StorageClassName = c.Spec.StorageClassName
	}
	bound := was.Status.Phase == corev1.ClaimBound
	if bound {
		like.Resources.Requests, like.VolumeAttributesClassName = c.Spec.Resources.Requests, c.Spec.VolumeAttributesClassName
	}
	if !apiequality.Semantic.DeepEqual(&c.Spec, like) {
		errs = append(errs, field.Forbidden(p, "spec is immutable after creation except resources.requests and "+
			"volumeAttributesClassName for bound claims: delete the claim and create it anew"))
	}
	if bound {
		errs = append(errs, validateSize(c, was, p.Child("resources", "requests", "storage"))...)
	}
	return errs
}

func validateSize(c, was *corev1.PersistentVolumeClaim, p *field.Path) field.ErrorList {
	size, before := c.Spec.Resources.Requests[corev1.ResourceStorage], was.Spec.Resources.Requests[corev1.ResourceStorage]
	switch size.Cmp(before) {
	case 0:
		return nil
	case -1:
		return field.ErrorList{field.Forbidden(p, "field can not be less than status.capacity")}
	}
	return field.ErrorList{field.Forbidden(p, "only dynamically provisioned pvc can be resized and the storageclass that provisions "+
		"the pvc must support resize; a directory of this machine has no size: leave the request as it is")}
}
