package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The allowed divisors of resources, in canonical form.
var (
	cpuUnits   = []string{"1m", "1"}
	bytesUnits = []string{"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}
)

// validateResourceFieldRef validates a reference to a container's request or limit.
func validateResourceFieldRef(r *corev1.ResourceFieldSelector, p *field.Path) field.ErrorList {
	at := p.Child("resource")
	if r.Resource == "" {
		return field.ErrorList{field.Required(at, "must be set")}
	}
	kind, name, _ := strings.Cut(r.Resource, ".")
	if (kind != "limits" && kind != "requests") || !standard(corev1.ResourceName(name)) {
		return field.ErrorList{field.NotSupported(at, r.Resource, []string{
			"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory",
		})}
	}
	units := bytesUnits
	if name == string(corev1.ResourceCPU) {
		units = cpuUnits
	}
	if r.Divisor.IsZero() || slices.Contains(units, r.Divisor.String()) {
		return nil
	}
	return field.ErrorList{field.Invalid(p.Child("divisor"), r.Divisor.String(), "only divisor's values "+strings.Join(units, ", ")+" are supported with "+name)}
}
