package pod

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/node/runtime"
)

const maxSysctlName = 253

// sysctlName matches the name of a kernel parameter: net.ipv4.ip_forward or net/ipv4/ip_forward.
var sysctlName = regexp.MustCompile(`^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`)

func validateSysctls(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i, sysctl := range s.SecurityContext.Sysctls {
		at := p.Index(i).Child("name")
		switch name := sysctl.Name; {
		case name == "":
			errs = append(errs, field.Required(at, "must be set"))
		case len(name) > maxSysctlName, !sysctlName.MatchString(name):
			errs = append(errs, field.Invalid(at, name, "must be a kernel parameter such as net.ipv4.ip_forward"))
		case seen.Has(name):
			errs = append(errs, field.Duplicate(at, name))
		}
		seen.Insert(sysctl.Name)
		if host := hostOf(sysctl.Name, s); host != "" {
			errs = append(errs, field.Invalid(at, sysctl.Name, "may not be specified when '"+host+"' is true"))
		}
	}
	return errs
}

// hostOf returns the field of the pod because of which a kernel parameter is the host's, or "" if it is not.
func hostOf(name string, s *corev1.PodSpec) string {
	name = runtime.SysctlName(name)
	switch {
	case s.HostNetwork && strings.HasPrefix(name, "net."):
		return "hostNetwork"
	case s.HostIPC && runtime.IsIPCSysctl(name):
		return "hostIPC"
	}
	return ""
}
