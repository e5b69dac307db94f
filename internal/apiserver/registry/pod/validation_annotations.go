package pod

import (
	"encoding/json"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// tolerationsAnnotation was used before the field tolerations existed.
const tolerationsAnnotation = "scheduler.alpha.kubernetes.io/tolerations"

// validateAnnotations validates the annotations of a pod or template that have a meaning in Kubernetes.
func validateAnnotations(annotations map[string]string, s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for key, value := range annotations {
		at := p.Key(key)
		container, aboutAppArmor := strings.CutPrefix(key, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix)
		switch {
		case key == corev1.MirrorPodAnnotationKey && s.NodeName == "":
			errs = append(errs, field.Invalid(at, value, "must set spec.nodeName if mirror pod annotation is set"))
		case key == tolerationsAnnotation && value != "":
			errs = append(errs, validateTolerationAnnotation(value, p)...)
		case key == corev1.PodDeletionCost && !isDeletionCost(value):
			errs = append(errs, field.Invalid(at, value, "must be a 32bit integer"))
		case key == corev1.SeccompPodAnnotationKey, strings.HasPrefix(key, corev1.SeccompContainerAnnotationKeyPrefix):
			errs = append(errs, validateSeccompAnnotation(value, p.Child(key))...)
		case aboutAppArmor:
			errs = append(errs, validateAppArmorAnnotation(container, value, s, at)...)
		}
	}
	return errs
}

func validateTolerationAnnotation(value string, p *field.Path) field.ErrorList {
	var tolerations []corev1.Toleration
	if err := json.Unmarshal([]byte(value), &tolerations); err != nil {
		return field.ErrorList{field.Invalid(p, tolerationsAnnotation, err.Error())}
	}
	return ValidateTolerations(tolerations, p.Child(tolerationsAnnotation))
}

// isDeletionCost reports whether value is a 32-bit integer, without leading zeros or + if it is not negative.
func isDeletionCost(value string) bool {
	n, err := strconv.ParseInt(value, 10, 32)
	return err == nil && (strconv.FormatInt(n, 10) == value || strings.HasPrefix(value, "-"))
}

func validateSeccompAnnotation(value string, p *field.Path) field.ErrorList {
	switch value {
	case corev1.SeccompProfileRuntimeDefault, corev1.DeprecatedSeccompProfileDockerDefault, corev1.SeccompProfileNameUnconfined:
		return nil
	}
	if path, ok := strings.CutPrefix(value, corev1.SeccompLocalhostProfileNamePrefix); ok {
		return validateInside(path, p)
	}
	return field.ErrorList{field.Invalid(p, value, "must be a valid seccomp profile")}
}

func validateAppArmorAnnotation(container, value string, s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if !HasContainer(s, container) {
		errs = append(errs, field.Invalid(p, container, "container not found"))
	}
	if value != "" && appArmorField(value) == nil {
		errs = append(errs, field.Invalid(p, value, "must be runtime/default, unconfined or localhost/PROFILE"))
	}
	return errs
}

// HasContainer reports whether a container or init container has this name.
func HasContainer(s *corev1.PodSpec, name string) bool {
	for _, c := range ContainersAt(s, nil) {
		if c.Name == name {
			return true
		}
	}
	return false
}

// appArmorField returns the field for the value of an AppArmor annotation, or nil if the value is invalid.
func appArmorField(annotation string) *corev1.AppArmorProfile {
	name, local := strings.CutPrefix(annotation, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
	switch {
	case annotation == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	case annotation == corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case local:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}
	}
	return nil
}

// validateProfileAnnotations requires that the annotation and the field for a seccomp or AppArmor profile match, if both
// are set.
func validateProfileAnnotations(annotations map[string]string, s *corev1.PodSpec, p *field.Path) field.ErrorList {
	if len(annotations) == 0 {
		return nil
	}
	pod := ptr.Deref(s.SecurityContext, corev1.PodSecurityContext{})
	errs := matchSeccomp(annotations, corev1.SeccompPodAnnotationKey, pod.SeccompProfile, p.Child("securityContext", "seccompProfile"))
	for at, c := range ContainersAt(s, p) {
		own := ptr.Deref(c.SecurityContext, corev1.SecurityContext{})
		at = at.Child("securityContext")
		errs = append(errs, matchSeccomp(annotations, corev1.SeccompContainerAnnotationKeyPrefix+c.Name, own.SeccompProfile, at.Child("seccompProfile"))...)
		profile := own.AppArmorProfile
		if profile == nil {
			profile = pod.AppArmorProfile
		}
		value, annotated := annotations[corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix+c.Name]
		if annotated && profile != nil && !isWindows(s) {
			errs = append(errs, matchAppArmor(value, profile, at.Child("appArmorProfile"))...)
		}
	}
	return errs
}

func matchAppArmor(annotation string, profile *corev1.AppArmorProfile, p *field.Path) field.ErrorList {
	said := ptr.Deref(appArmorField(annotation), corev1.AppArmorProfile{})
	switch {
	case said.Type != profile.Type:
		return field.ErrorList{field.Forbidden(p.Child("type"), "apparmor type in annotation and field must match")}
	case !ptr.Equal(said.LocalhostProfile, profile.LocalhostProfile):
		return field.ErrorList{field.Forbidden(p.Child("localhostProfile"), "apparmor profile in annotation and field must match")}
	}
	return nil
}

func matchSeccomp(annotations map[string]string, key string, profile *corev1.SeccompProfile, p *field.Path) field.ErrorList {
	value, annotated := annotations[key]
	if !annotated || profile == nil {
		return nil
	}
	said := corev1.SeccompProfile{}
	name, local := strings.CutPrefix(value, corev1.SeccompLocalhostProfileNamePrefix)
	switch {
	case value == corev1.SeccompProfileNameUnconfined:
		said.Type = corev1.SeccompProfileTypeUnconfined
	case value == corev1.SeccompProfileRuntimeDefault, value == corev1.DeprecatedSeccompProfileDockerDefault:
		said.Type = corev1.SeccompProfileTypeRuntimeDefault
	case local:
		said = corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost, LocalhostProfile: &name}
	}
	switch {
	case said.Type != profile.Type:
		return field.ErrorList{field.Forbidden(p.Child("type"), "seccomp type in annotation and field must match")}
	case !ptr.Equal(said.LocalhostProfile, profile.LocalhostProfile):
		return field.ErrorList{field.Forbidden(p.Child("localhostProfile"), "seccomp profile in annotation and field must match")}
	}
	return nil
}
