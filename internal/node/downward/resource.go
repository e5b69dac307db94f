package downward

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/podspec"
)

// Resource returns a request or limit of a container in units of the selector's divisor, rounded up. For a limit that
// is not set it returns what is allocatable on the machine.
func Resource(pod *corev1.Pod, container string, facts Facts, ref *corev1.ResourceFieldSelector) (string, error) {
	if ref.ContainerName != "" {
		container = ref.ContainerName
	}
	c := podspec.Container(&pod.Spec, container)
	if c == nil {
		return "", fmt.Errorf("resourceFieldRef: the pod has no container %q", container)
	}
	kind, name, _ := strings.Cut(ref.Resource, ".")
	var value resource.Quantity
	switch kind {
	case "requests":
		value = c.Resources.Requests[corev1.ResourceName(name)]
	case "limits":
		var set bool
		if value, set = c.Resources.Limits[corev1.ResourceName(name)]; !set {
			value = facts.Allocatable[corev1.ResourceName(name)]
		}
	default:
		return "", fmt.Errorf("resourceFieldRef: %q must begin with requests or limits, and a dot", ref.Resource)
	}
	return units(corev1.ResourceName(name), value, ref.Divisor), nil
}

func units(name corev1.ResourceName, value, divisor resource.Quantity) string {
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	if name == corev1.ResourceCPU {
		return strconv.FormatInt(ceil(value.MilliValue(), divisor.MilliValue()), 10)
	}
	return strconv.FormatInt(ceil(value.Value(), divisor.Value()), 10)
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }
