package scheduledjob

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// validateUniqueKeys refuses duplicate keys in these lists. In a Job they are allowed, but not in a ScheduledJob on a
// cluster: its CustomResourceDefinition declares the lists as maps with these keys.
func validateUniqueKeys(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	errs := unique(s.ImagePullSecrets, func(r corev1.LocalObjectReference) string { return r.Name }, p.Child("imagePullSecrets"))
	errs = append(errs, unique(s.HostAliases, func(a corev1.HostAlias) string { return a.IP }, p.Child("hostAliases"))...)
	for path, c := range pod.ContainersAt(s, p) {
		errs = append(errs, uniqueVariables(c.Env, path.Child("env"))...)
		errs = append(errs, unique(c.Ports, func(port corev1.ContainerPort) string {
			return fmt.Sprintf("%d/%s", port.ContainerPort, port.Protocol)
		}, path.Child("ports"))...)
	}
	return errs
}

func uniqueVariables(vars []corev1.EnvVar, p *field.Path) field.ErrorList {
	return unique(vars, func(e corev1.EnvVar) string { return e.Name }, p)
}

func unique[T any](list []T, key func(T) string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, element := range list {
		k := key(element)
		if seen.Has(k) {
			errs = append(errs, field.Duplicate(p.Index(i), k))
		}
		seen.Insert(k)
	}
	return errs
}
