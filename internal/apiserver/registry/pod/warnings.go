package pod

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// warnSpec warns about parts of a valid spec that probably do not do what the user expects.
func warnSpec(s *corev1.PodSpec, p *field.Path) []string {
	warnings := warnPlacement(s, p)
	warnings = append(warnings, warnVolumes(s.Volumes, p.Child("volumes"))...)
	warnings = append(warnings, warnNames(s, p)...)
	warnings = append(warnings, warnFractions(s.Overhead, p.Child("overhead"))...)
	for at, c := range ContainersAt(s, p) {
		warnings = append(warnings, warnVariables(c.Env, at.Child("env"))...)
		warnings = append(warnings, warnFractions(c.Resources.Limits, at.Child("resources", "limits"))...)
		warnings = append(warnings, warnFractions(c.Resources.Requests, at.Child("resources", "requests"))...)
	}
	warnings = append(warnings, warnPorts(s, p)...)
	if g := s.TerminationGracePeriodSeconds; g != nil && *g < 0 {
		warnings = append(warnings, fmt.Sprintf("%s: must be >= 0; a negative value is treated as 1", p.Child("terminationGracePeriodSeconds")))
	}
	return warnings
}

// warnNames warns about names and addresses that are duplicate, empty or in an old form.
func warnNames(s *corev1.PodSpec, p *field.Path) []string {
	var warnings []string
	addresses, secrets := sets.New[string](), sets.New[string]()
	for i, alias := range s.HostAliases {
		at := p.Child("hostAliases").Index(i).Child("ip")
		if addresses.Has(alias.IP) {
			warnings = append(warnings, fmt.Sprintf("%s: duplicate ip %q: put all names into one alias", at, alias.IP))
		}
		addresses.Insert(alias.IP)
		warnings = append(warnings, validation.GetWarningsForIP(at, alias.IP)...)
	}
	if s.DNSConfig != nil {
		for i, server := range s.DNSConfig.Nameservers {
			warnings = append(warnings, validation.GetWarningsForIP(p.Child("dnsConfig", "nameservers").Index(i), server)...)
		}
	}
	for i, secret := range s.ImagePullSecrets {
		at := p.Child("imagePullSecrets").Index(i).Child("name")
		if secrets.Has(secret.Name) {
			warnings = append(warnings, fmt.Sprintf("%s: duplicate name %q", at, secret.Name))
		}
		secrets.Insert(secret.Name)
		if secret.Name == "" {
			warnings = append(warnings, fmt.Sprintf("%s: names no secret: give it a name or remove it", at))
		}
	}
	return warnings
}

// warnVariables warns about duplicate variables, unless the second one refers to the first: PATH=/opt/bin:$(PATH).
func warnVariables(vars []corev1.EnvVar, p *field.Path) []string {
	if len(vars) < 2 {
		return nil
	}
	var warnings []string
	seen := sets.New[string]()
	for i, e := range vars {
		earlier := "$(" + e.Name + ")"
		builds := strings.Contains(e.Value, earlier) && e.Value != earlier
		if seen.Has(e.Name) && !builds {
			warnings = append(warnings, fmt.Sprintf("%s: hides the earlier definition of %q, which apply may drop", p.Index(i), e.Name))
		}
		seen.Insert(e.Name)
	}
	return warnings
}

// warnFractions warns about quantities of memory with fractions of a byte, such as "100m" instead of "100Mi".
func warnFractions(list corev1.ResourceList, p *field.Path) []string {
	var warnings []string
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if q, ok := list[name]; ok && !whole(q) {
			warnings = append(warnings, fmt.Sprintf("%s: is a fraction of a byte: use a whole number, with a suffix such as Mi", p.Key(string(name))))
		}
	}
	return warnings
}

// listener is a port of a container with its path.
type listener struct {
	corev1.ContainerPort
	at *field.Path
}

// warnPorts warns about ports and port names that the pod's containers have more than once.
func warnPorts(s *corev1.PodSpec, p *field.Path) []string {
	var warnings []string
	var others []listener
	for at, c := range ContainersAt(s, p) {
		for i, port := range c.Ports {
			l := listener{port, at.Child("ports").Index(i)}
			if port.HostIP != "" && port.HostPort == 0 {
				warnings = append(warnings, fmt.Sprintf("%s: hostIP has no effect without hostPort", l.at))
			}
			for _, other := range others {
				if how := collide(l, other); how != "" {
					warnings = append(warnings, fmt.Sprintf("%s: %s port definition with %s", l.at, how, other.at))
				}
			}
			named := func(o listener) bool { return o.Name == l.Name }
			if first := slices.IndexFunc(others, named); first >= 0 && l.Name != "" {
				warnings = append(warnings, fmt.Sprintf("%s: duplicate port name %q with %s, which services and probes will use",
					l.at, l.Name, others[first].at))
			}
			others = append(others, l)
		}
	}
	return warnings
}

// collide returns how two ports conflict, or "" if they do not.
func collide(a, b listener) string {
	if a.ContainerPort.ContainerPort != b.ContainerPort.ContainerPort || a.Protocol != b.Protocol {
		return ""
	}
	switch {
	case a.HostIP == b.HostIP && a.HostPort == b.HostPort:
		return "duplicate"
	case a.HostPort == 0, b.HostPort == 0:
		return "overlapping"
	case a.HostPort == b.HostPort && (a.HostIP == "" || b.HostIP == ""):
		return "dangerously ambiguous"
	}
	return ""
}
