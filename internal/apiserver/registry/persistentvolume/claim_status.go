package persistentvolume

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

func validateClaimStatus(s *corev1.PersistentVolumeClaimStatus) field.ErrorList {
	p := field.NewPath("status")
	errs := validateSizes(s.Capacity, p.Child("capacity"))
	allocated := p.Child("allocatedResources")
	for _, name := range slices.Sorted(maps.Keys(s.AllocatedResources)) {
		errs = append(errs, validateAllocated(name, allocated)...)
	}
	errs = append(errs, validateSizes(s.AllocatedResources, allocated)...)
	statuses := p.Child("allocatedResourceStatuses")
	for _, name := range slices.Sorted(maps.Keys(s.AllocatedResourceStatuses)) {
		errs = append(errs, validateAllocated(name, statuses)...)
		errs = append(errs, check.Supported(s.AllocatedResourceStatuses[name], statuses,
			corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimControllerResizeInfeasible,
			corev1.PersistentVolumeClaimNodeResizeInProgress, corev1.PersistentVolumeClaimNodeResizeInfeasible,
			corev1.PersistentVolumeClaimNodeResizePending)...)
	}
	return errs
}

func validateSizes(list corev1.ResourceList, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if size := list[name]; size.Sign() < 0 {
			errs = append(errs, field.Invalid(p.Key(string(name)), size.String(), "must be greater than or equal to 0"))
		}
	}
	return errs
}

// validateAllocated allows storage, and resources of others than Kubernetes.
func validateAllocated(name corev1.ResourceName, p *field.Path) field.ErrorList {
	domain, _, foreign := strings.Cut(string(name), "/")
	if foreign && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io") {
		return nil
	}
	return check.Supported(name, p, corev1.ResourceStorage)
}
