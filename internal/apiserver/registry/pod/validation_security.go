package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

func validatePodSecurity(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	errs := validateSharedNamespaces(s, p)
	p = p.Child("securityContext")
	c := s.SecurityContext
	if c == nil {
		return errs
	}
	errs = append(errs, validateUser(c.RunAsUser, p.Child("runAsUser"))...)
	errs = append(errs, validateGroup(c.RunAsGroup, p.Child("runAsGroup"))...)
	errs = append(errs, validateGroup(c.FSGroup, p.Child("fsGroup"))...)
	for i := range c.SupplementalGroups {
		errs = append(errs, validateGroup(&c.SupplementalGroups[i], p.Child("supplementalGroups").Index(i))...)
	}
	if c.SupplementalGroupsPolicy != nil {
		errs = append(errs, check.Supported(*c.SupplementalGroupsPolicy, p.Child("supplementalGroupsPolicy"),
			corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)...)
	}
	if c.FSGroupChangePolicy != nil {
		errs = append(errs, check.Supported(*c.FSGroupChangePolicy, p.Child("fsGroupChangePolicy"), corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)...)
	}
	if c.SELinuxChangePolicy != nil {
		// The other policy, MountOption, is disabled by default in Kubernetes 1.36.
		errs = append(errs, check.Supported(*c.SELinuxChangePolicy, p.Child("seLinuxChangePolicy"), corev1.SELinuxChangePolicyRecursive)...)
	}
	errs = append(errs, validateSysctls(s, p.Child("sysctls"))...)
	errs = append(errs, validateWindowsOptions(c.WindowsOptions, p.Child("windowsOptions"))...)
	errs = append(errs, validateSeccomp(c.SeccompProfile, p.Child("seccompProfile"))...)
	return append(errs, validateAppArmor(c.AppArmorProfile, p.Child("appArmorProfile"))...)
}

// validateSharedNamespaces refuses fields that ask for both the host's namespaces and the pod's own.
func validateSharedNamespaces(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.HostPID && ptr.Deref(s.ShareProcessNamespace, false) {
		errs = append(errs, field.Invalid(p.Child("shareProcessNamespace"), true, "shareProcessNamespace and hostPID cannot both be true"))
	}
	if ptr.Deref(s.HostUsers, true) {
		return errs
	}
	for _, shared := range []struct {
		field string
		set   bool
	}{{"hostNetwork", s.HostNetwork}, {"hostPID", s.HostPID}, {"hostIPC", s.HostIPC}} {
		if shared.set {
			errs = append(errs, field.Forbidden(p.Child(shared.field), "when `hostUsers` is false"))
		}
	}
	for at, c := range ContainersAt(s, p) {
		if len(c.VolumeDevices) > 0 {
			errs = append(errs, field.Forbidden(at.Child("volumeDevices"), "when `hostUsers` is false"))
		}
	}
	return errs
}

func validateUser(id *int64, p *field.Path) field.ErrorList {
	if id == nil {
		return nil
	}
	return check.Invalid(p, *id, validation.IsValidUserID(*id))
}

func validateGroup(id *int64, p *field.Path) field.ErrorList {
	if id == nil {
		return nil
	}
	return check.Invalid(p, *id, validation.IsValidGroupID(*id))
}

func validateSeccomp(s *corev1.SeccompProfile, p *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := check.Among(s.Type, p.Child("type"),
		corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)
	p = p.Child("localhostProfile")
	local := s.Type == corev1.SeccompProfileTypeLocalhost
	errs = append(errs, onlyForLocalhost(s.LocalhostProfile, local, p)...)
	if local {
		errs = append(errs, validateInside(ptr.Deref(s.LocalhostProfile, ""), p)...)
	}
	return errs
}

const maxProfilePath = 4095

func validateAppArmor(s *corev1.AppArmorProfile, p *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := check.Among(s.Type, p.Child("type"),
		corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)
	if len(errs) > 0 {
		return errs
	}
	p = p.Child("localhostProfile")
	errs = onlyForLocalhost(s.LocalhostProfile, s.Type == corev1.AppArmorProfileTypeLocalhost, p)
	switch name := ptr.Deref(s.LocalhostProfile, "x"); {
	case len(errs) > 0:
	case name == "":
		errs = append(errs, field.Required(p, "must be set when type is Localhost"))
	case strings.TrimSpace(name) != name:
		errs = append(errs, field.Invalid(p, name, "must not be padded with whitespace"))
	case len(name) > maxProfilePath:
		errs = append(errs, field.TooLong(p, "", maxProfilePath))
	}
	return errs
}

// onlyForLocalhost requires the name of a profile if wanted, and refuses it otherwise.
func onlyForLocalhost(name *string, wanted bool, p *field.Path) field.ErrorList {
	switch {
	case wanted && name == nil:
		return field.ErrorList{field.Required(p, "must be set when type is Localhost")}
	case !wanted && name != nil:
		return field.ErrorList{field.Invalid(p, *name, "can only be set when type is Localhost")}
	}
	return nil
}

// validateSecurity validates the securityContext of a container.
func validateSecurity(c container, p *field.Path) field.ErrorList {
	s := c.SecurityContext
	if s == nil {
		return nil
	}
	errs := validateUser(s.RunAsUser, p.Child("runAsUser"))
	errs = append(errs, validateGroup(s.RunAsGroup, p.Child("runAsGroup"))...)
	if s.ProcMount != nil {
		errs = append(errs, check.Supported(*s.ProcMount, p.Child("procMount"), corev1.DefaultProcMount, corev1.UnmaskedProcMount)...)
		if *s.ProcMount == corev1.UnmaskedProcMount && ptr.Deref(c.pod.HostUsers, true) {
			errs = append(errs, field.Invalid(p.Child("procMount"), *s.ProcMount, "`hostUsers` must be false to use `Unmasked`"))
		}
	}
	errs = append(errs, validateEscalation(s, p)...)
	errs = append(errs, validateWindowsOptions(s.WindowsOptions, p.Child("windowsOptions"))...)
	errs = append(errs, validateSeccomp(s.SeccompProfile, p.Child("seccompProfile"))...)
	return append(errs, validateAppArmor(s.AppArmorProfile, p.Child("appArmorProfile"))...)
}

// validateEscalation refuses allowPrivilegeEscalation: false for a container that already has all privileges.
func validateEscalation(s *corev1.SecurityContext, p *field.Path) field.ErrorList {
	if ptr.Deref(s.AllowPrivilegeEscalation, true) {
		return nil
	}
	var errs field.ErrorList
	if ptr.Deref(s.Privileged, false) {
		errs = append(errs, field.Invalid(p, false, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"))
	}
	if s.Capabilities != nil && slices.Contains(s.Capabilities.Add, "CAP_SYS_ADMIN") {
		errs = append(errs, field.Invalid(p, false, "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"))
	}
	return errs
}
