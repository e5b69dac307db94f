package pod

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateOwnVolumes validates what only pods must have, not templates: valid names of the claims for ephemeral volumes,
// which depend on the pod's name, and references of image volumes.
func validateOwnVolumes(pod *corev1.Pod, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	made := map[string]bool{}
	for i, v := range pod.Spec.Volumes {
		if v.Image != nil {
			errs = append(errs, requireName(v.Image.Reference, p.Index(i).Child("image", "reference"))...)
		}
		if v.Ephemeral == nil || pod.Name == "" || v.Name == "" {
			continue
		}
		claim := pod.Name + "-" + v.Name
		made[claim] = true
		for _, msg := range apivalidation.NameIsDNSSubdomain(claim, false) {
			errs = append(errs, field.Invalid(p.Index(i).Child("name"), v.Name, fmt.Sprintf("PVC name %q: %s", claim, msg)))
		}
	}
	for i, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil && made[v.PersistentVolumeClaim.ClaimName] {
			errs = append(errs, field.Invalid(p.Index(i).Child("persistentVolumeClaim", "claimName"), v.PersistentVolumeClaim.ClaimName,
				"must not reference a PVC that gets created for an ephemeral volume"))
		}
	}
	return errs
}
