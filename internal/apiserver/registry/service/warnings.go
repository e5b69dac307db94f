package service

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// warn warns about fields that are ignored, and values that have a newer name.
func warn(svc *corev1.Service) []string {
	s := &svc.Spec
	var warnings []string
	if IsHeadless(s) && s.SessionAffinity != corev1.ServiceAffinityNone {
		warnings = append(warnings, "spec.SessionAffinity is ignored for headless services")
	}
	if s.ExternalName != "" && !isExternalName(s) {
		warnings = append(warnings, fmt.Sprintf("spec.externalName is ignored when spec.type is not %q", corev1.ServiceTypeExternalName))
	}
	if ptr.Deref(s.TrafficDistribution, "") == corev1.ServiceTrafficDistributionPreferClose {
		warnings = append(warnings, "spec.trafficDistribution: PreferClose is deprecated: use PreferSameZone")
	}
	return warnings
}
