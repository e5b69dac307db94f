package pod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestResourceRules(t *testing.T) {
	resources := func(requests, limits corev1.ResourceList) []podEdit {
		return podEdits(inContainer(func(c *corev1.Container) { c.Resources.Requests, c.Resources.Limits = requests, limits }))
	}
	list := func(name corev1.ResourceName, quantity string) corev1.ResourceList {
		return corev1.ResourceList{name: amount(quantity)}
	}
	const r = firstContainer + "resources."
	runPodCases(t, map[string]podCase{
		"a request may be less than the limit": {resources(list("cpu", "1"), list("cpu", "2")), nil},
		"a request may not be more":            {resources(list("cpu", "3"), list("cpu", "2")), []string{r + "requests Invalid"}},
		"an amount is not negative":            {resources(list("memory", "-1"), nil), []string{r + "requests[memory] Invalid"}},
		"a resource is known or has a domain":  {resources(list("gpu", "1"), nil), []string{r + "requests[gpu] Invalid"}},
		"a device is limited":                  {resources(list("example.com/gpu", "1"), nil), []string{r + "limits Required"}},
		"a device is not halved":               {resources(list("example.com/gpu", "500m"), list("example.com/gpu", "500m")), []string{r + "limits[example.com/gpu] Invalid", r + "requests[example.com/gpu] Invalid"}},
		"a device is not shared":               {resources(list("example.com/gpu", "1"), list("example.com/gpu", "2")), []string{r + "requests Invalid"}},
		"an exabyte is a whole number":         {resources(list("memory", "10E"), nil), nil},
		"many devices are a whole number":      {resources(list("example.com/gpu", "10E"), list("example.com/gpu", "10E")), nil},
		"huge pages need other memory":         {resources(nil, list("hugepages-2Mi", "2Mi")), []string{firstContainer + "resources Forbidden"}},
		"a pod asks for cpu and memory":        {podEdits(inSpec(func(s *corev1.PodSpec) { s.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "1")} })), nil},
		"huge pages come whole":                {resources(nil, corev1.ResourceList{"hugepages-2Mi": amount("3Mi"), "memory": amount("1Gi")}), []string{r + "limits[hugepages-2Mi] Invalid", r + "requests[hugepages-2Mi] Invalid"}},
		"a pod asks for as much as its containers": {podEdits(resources(list("cpu", "2"), nil)[0], inSpec(func(s *corev1.PodSpec) {
			s.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "1")}
		})), []string{"spec.resources.requests[cpu] Invalid"}},
		"a pod has no less than one of its containers": {podEdits(resources(nil, list("cpu", "2"))[0], inSpec(func(s *corev1.PodSpec) {
			s.Resources = &corev1.ResourceRequirements{Limits: list("cpu", "1"), Requests: list("cpu", "2")}
		})), []string{"spec.resources.limits[cpu] Invalid", "spec.resources.requests Invalid"}},
		"a claim is used once, in whole or in parts": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.ResourceClaims = []corev1.PodResourceClaim{{Name: "x", ResourceClaimName: ptr.To("x")}}
		}), inContainer(func(c *corev1.Container) {
			c.Resources.Claims = []corev1.ResourceClaim{{Name: "x", Request: "a"}, {Name: "x", Request: "b"}, {Name: "x", Request: "a"}, {Name: "x"}}
		})), []string{r + "claims[2] Duplicate", r + "claims[3] Duplicate"}},
		"a pod asks for nothing else": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.Resources = &corev1.ResourceRequirements{Requests: list("ephemeral-storage", "1")}
		})), []string{"spec.resources.requests[ephemeral-storage] NotSupported"}},
		"a claim is one of the pod's": {podEdits(inContainer(func(c *corev1.Container) { c.Resources.Claims = []corev1.ResourceClaim{{Name: "x"}, {}} })), []string{r + "claims[0] NotFound", r + "claims[1] Required"}},
		"resizing has one policy for each": {podEdits(inContainer(func(c *corev1.Container) {
			c.ResizePolicy = registrytest.Times(2, corev1.ContainerResizePolicy{ResourceName: "cpu", RestartPolicy: "NotRequired"})
		})), []string{firstContainer + "resizePolicy[1] Duplicate"}},
		"resizing has a policy that is known":    {podEdits(inContainer(func(c *corev1.Container) { c.ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: "gpu"}} })), []string{firstContainer + "resizePolicy Invalid", firstContainer + "resizePolicy NotSupported", firstContainer + "resizePolicy Required"}},
		"overhead is an amount of what is known": {podEdits(inSpec(func(s *corev1.PodSpec) { s.Overhead = list("gpu", "-1") })), []string{"spec.overhead[gpu] Invalid", "spec.overhead[gpu] Invalid"}},
	})
}
