package pod

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

const (
	notOnWindows = "cannot be set for a windows pod"
	notOnLinux   = "windows options cannot be set for a linux pod"
)

func isWindows(s *corev1.PodSpec) bool { return s.OS != nil && s.OS.Name == corev1.Windows }

// osField is a field that only one operating system supports.
type osField[T any] struct {
	field string
	set   func(T) bool
}

// validateSystem refuses fields that the pod's operating system does not support.
func validateSystem(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	errs := validateHostProcesses(s, p)
	if s.OS == nil {
		return errs
	}
	errs = append(errs, check.Among(s.OS.Name, p.Child("os", "name"), corev1.Linux, corev1.Windows)...)
	ofPods, ofContainers, why := linuxPods, linuxContainers, notOnWindows
	switch s.OS.Name {
	case corev1.Linux:
		ofPods, ofContainers, why = windowsPods, windowsContainers, notOnLinux
	case corev1.Windows:
	default:
		return errs
	}
	errs = append(errs, forbid(ofPods, s, p, why)...)
	for at, c := range ContainersAt(s, p) {
		if c.SecurityContext != nil {
			errs = append(errs, forbid(ofContainers, c.SecurityContext, at.Child("securityContext"), why)...)
		}
	}
	return errs
}

func forbid[T any](fields []osField[T], v T, p *field.Path, why string) field.ErrorList {
	var errs field.ErrorList
	for _, f := range fields {
		if f.set(v) {
			parent, name, nested := strings.Cut(f.field, ".")
			at := p.Child(parent)
			if nested {
				at = at.Child(name)
			}
			errs = append(errs, field.Forbidden(at, why))
		}
	}
	return errs
}

var windowsPods = []osField[*corev1.PodSpec]{
	{"securityContext.windowsOptions", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.WindowsOptions != nil })},
}

var windowsContainers = []osField[*corev1.SecurityContext]{
	{"windowsOptions", func(c *corev1.SecurityContext) bool { return c.WindowsOptions != nil }},
}

var linuxPods = []osField[*corev1.PodSpec]{
	{"hostUsers", func(s *corev1.PodSpec) bool { return s.HostUsers != nil }},
	{"hostPID", func(s *corev1.PodSpec) bool { return s.HostPID }},
	{"hostIPC", func(s *corev1.PodSpec) bool { return s.HostIPC }},
	{"shareProcessNamespace", func(s *corev1.PodSpec) bool { return s.ShareProcessNamespace != nil }},
	{"securityContext.appArmorProfile", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.AppArmorProfile != nil })},
	{"securityContext.seLinuxOptions", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.SELinuxOptions != nil })},
	{"securityContext.seccompProfile", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.SeccompProfile != nil })},
	{"securityContext.fsGroup", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.FSGroup != nil })},
	{"securityContext.fsGroupChangePolicy", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.FSGroupChangePolicy != nil })},
	{"securityContext.sysctls", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return len(c.Sysctls) > 0 })},
	{"securityContext.runAsUser", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.RunAsUser != nil })},
	{"securityContext.runAsGroup", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.RunAsGroup != nil })},
	{"securityContext.supplementalGroups", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.SupplementalGroups != nil })},
	{"securityContext.supplementalGroupsPolicy", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.SupplementalGroupsPolicy != nil })},
	{"securityContext.seLinuxChangePolicy", ofPodSecurity(func(c *corev1.PodSecurityContext) bool { return c.SELinuxChangePolicy != nil })},
}

var linuxContainers = []osField[*corev1.SecurityContext]{
	{"appArmorProfile", func(c *corev1.SecurityContext) bool { return c.AppArmorProfile != nil }},
	{"seLinuxOptions", func(c *corev1.SecurityContext) bool { return c.SELinuxOptions != nil }},
	{"seccompProfile", func(c *corev1.SecurityContext) bool { return c.SeccompProfile != nil }},
	{"capabilities", func(c *corev1.SecurityContext) bool { return c.Capabilities != nil }},
	{"readOnlyRootFilesystem", func(c *corev1.SecurityContext) bool { return c.ReadOnlyRootFilesystem != nil }},
	{"privileged", func(c *corev1.SecurityContext) bool { return c.Privileged != nil }},
	{"allowPrivilegeEscalation", func(c *corev1.SecurityContext) bool { return c.AllowPrivilegeEscalation != nil }},
	{"procMount", func(c *corev1.SecurityContext) bool { return c.ProcMount != nil }},
	{"runAsUser", func(c *corev1.SecurityContext) bool { return c.RunAsUser != nil }},
	{"runAsGroup", func(c *corev1.SecurityContext) bool { return c.RunAsGroup != nil }},
}

// validateHostProcesses validates hostProcess for Windows: all containers of a pod must have it or none, and the pod must
// have hostNetwork.
func validateHostProcesses(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	var pod *bool
	if s.SecurityContext != nil && s.SecurityContext.WindowsOptions != nil {
		pod = s.SecurityContext.WindowsOptions.HostProcess
	}
	all, some := true, false
	for at, c := range ContainersAt(s, p) {
		own := pod
		if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil && c.SecurityContext.WindowsOptions.HostProcess != nil {
			own = c.SecurityContext.WindowsOptions.HostProcess
		}
		if pod != nil && *own != *pod {
			errs = append(errs, field.Invalid(at.Child("securityContext", "windowsOptions", "hostProcess"), *own, "must be the pod's hostProcess where both are specified"))
		}
		all = all && ptr.Deref(own, false)
		some = some || ptr.Deref(own, false)
	}
	if some && !all {
		errs = append(errs, field.Invalid(p, "", "all containers must be hostProcess containers if one is"))
	}
	if some && !s.HostNetwork {
		errs = append(errs, field.Invalid(p.Child("hostNetwork"), false, "must be true if pod contains any hostProcess containers"))
	}
	return errs
}
