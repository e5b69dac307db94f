package service

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateUpdate keeps the address of a Service, which clients may know, and its family.
func validateUpdate(svc, old *corev1.Service) field.ErrorList {
	errs := validate(svc)
	s, was, p := &svc.Spec, &old.Spec, field.NewPath("spec")
	if isExternalName(s) || isExternalName(was) {
		return errs
	}
	if len(was.ClusterIPs) > 0 && (len(s.ClusterIPs) == 0 || s.ClusterIPs[0] != was.ClusterIPs[0]) {
		errs = append(errs, field.Invalid(p.Child("clusterIPs").Index(0), s.ClusterIPs, "may not change once set: delete the Service and create it anew"))
	}
	if len(was.IPFamilies) > 0 && (len(s.IPFamilies) == 0 || s.IPFamilies[0] != was.IPFamilies[0]) {
		errs = append(errs, field.Invalid(p.Child("ipFamilies").Index(0), s.IPFamilies, "may not change once set"))
	}
	return errs
}

func validateStatus(svc *corev1.Service) field.ErrorList {
	p := field.NewPath("status")
	if len(svc.Status.LoadBalancer.Ingress) > 0 {
		return field.ErrorList{field.Forbidden(p.Child("loadBalancer", "ingress"), onlyForLoadBalancers)}
	}
	return nil
}
