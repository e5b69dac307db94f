package nodeflags

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/cli/command"
)

// ParseAllocatable parses "cpu=4,memory=8Gi". It returns nil for an empty text, which means all that the machine has.
func ParseAllocatable(text string) (corev1.ResourceList, error) {
	if text == "" {
		return nil, nil
	}
	list := corev1.ResourceList{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok {
			return nil, command.BadInputf("--allocatable %q: write NAME=QUANTITY pairs, such as cpu=4,memory=8Gi", text)
		}
		key := corev1.ResourceName(name)
		switch key {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
		default:
			return nil, command.BadInputf("--allocatable: no resource %q here: there is cpu, memory, ephemeral-storage and pods", name)
		}
		quantity, err := resource.ParseQuantity(value)
		if err != nil || quantity.Sign() <= 0 {
			return nil, command.BadInputf("--allocatable: %s=%q is not a positive quantity such as 4 or 8Gi", name, value)
		}
		list[key] = quantity
	}
	return list, nil
}
