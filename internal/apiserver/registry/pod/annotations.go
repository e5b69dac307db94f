package pod

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// oldAnnotations are annotations without effect, which fields have replaced.
var oldAnnotations = []struct{ key, instead string }{
	{"scheduler.alpha.kubernetes.io/critical-pod", "priorityClassName"},
	{"security.alpha.kubernetes.io/sysctls", "sysctls"},
	{"security.alpha.kubernetes.io/unsafe-sysctls", "sysctls"},
}

func warnAnnotations(annotations map[string]string, s *corev1.PodSpec, p *field.Path) []string {
	if len(annotations) == 0 {
		return nil
	}
	var warnings []string
	warn := func(key, instead string) {
		if _, used := annotations[key]; used {
			warnings = append(warnings, fmt.Sprintf("%s: no longer has an effect: use the field %q instead", p.Key(key), instead))
		}
	}
	for _, old := range oldAnnotations {
		warn(old.key, old.instead)
	}
	if s.SecurityContext == nil || s.SecurityContext.SeccompProfile == nil {
		warn(corev1.SeccompPodAnnotationKey, "seccompProfile")
	}
	for _, c := range ContainersAt(s, nil) {
		if c.SecurityContext == nil || c.SecurityContext.SeccompProfile == nil {
			warn(corev1.SeccompContainerAnnotationKeyPrefix+c.Name, "seccompProfile")
		}
	}
	return warnings
}

// warnAppArmorAnnotations warns about AppArmor annotations of a template without the same profile in a field.
func warnAppArmorAnnotations(annotations map[string]string, s *corev1.PodSpec, p *field.Path) []string {
	if len(annotations) == 0 {
		return nil
	}
	var warnings []string
	for _, c := range ContainersAt(s, nil) {
		key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
		value, used := annotations[key]
		if !used || appArmorOf(c) != nil {
			continue
		}
		if pod := podAppArmor(s); pod == nil || !apiequality.Semantic.DeepEqual(pod, appArmorField(value)) {
			warnings = append(warnings, useAppArmorField(p.Key(key)))
		}
	}
	return warnings
}

// copyAppArmorAnnotations copies the AppArmor annotations of a new pod to fields, because nodes read only fields. It
// returns the warnings, because afterwards every annotation has its field.
func copyAppArmorAnnotations(pod *corev1.Pod) []string {
	if len(pod.Annotations) == 0 || isWindows(&pod.Spec) {
		return nil
	}
	var warnings []string
	for _, c := range ContainersAt(&pod.Spec, nil) {
		key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
		value, used := pod.Annotations[key]
		if !used || appArmorOf(c) != nil {
			continue
		}
		profile := appArmorField(value)
		if len(validateAppArmor(profile, nil)) > 0 {
			profile = nil
		}
		if profile != nil && apiequality.Semantic.DeepEqual(profile, podAppArmor(&pod.Spec)) {
			continue
		}
		if profile != nil {
			c.SecurityContext = orDefault(c.SecurityContext, corev1.SecurityContext{})
			c.SecurityContext.AppArmorProfile = profile
		}
		warnings = append(warnings, useAppArmorField(field.NewPath("metadata", "annotations").Key(key)))
	}
	return warnings
}

func useAppArmorField(p *field.Path) string {
	return fmt.Sprintf("%s: is deprecated: use the field \"appArmorProfile\" instead", p)
}

func appArmorOf(c *corev1.Container) *corev1.AppArmorProfile {
	if c.SecurityContext == nil {
		return nil
	}
	return c.SecurityContext.AppArmorProfile
}

func podAppArmor(s *corev1.PodSpec) *corev1.AppArmorProfile {
	if s.SecurityContext == nil {
		return nil
	}
	return s.SecurityContext.AppArmorProfile
}
