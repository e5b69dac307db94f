package pod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
)

// setDefaults sets the defaults of a pod. Some of them depend on other fields. Templates do not get those, because they
// would stay when the other fields of the template change.
func setDefaults(pod *corev1.Pod) {
	setSpecDefaults(&pod.Spec)
	if *pod.Spec.TerminationGracePeriodSeconds < 0 {
		pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1)
	}
	pod.Spec.EnableServiceLinks = orDefault(pod.Spec.EnableServiceLinks, true)
	eachContainer(&pod.Spec, func(c *corev1.Container) {
		requestLimits(&c.Resources, func(corev1.ResourceName) bool { return true })
		if pod.Spec.HostNetwork {
			exposePortsOnHost(c.Ports)
		}
	})
	requestForPod(pod)
	pairAddresses(&pod.Status)
}

// setSpecDefaults sets the defaults of both pods and templates.
func setSpecDefaults(s *corev1.PodSpec) {
	setDefault(&s.RestartPolicy, corev1.RestartPolicyAlways)
	setDefault(&s.DNSPolicy, corev1.DNSClusterFirst)
	setDefault(&s.SchedulerName, corev1.DefaultSchedulerName)
	s.TerminationGracePeriodSeconds = orDefault(s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	s.SecurityContext = orDefault(s.SecurityContext, corev1.PodSecurityContext{})
	// serviceAccount is the old name of serviceAccountName. Both have the same value.
	setDefault(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName

	for i := range s.Volumes {
		defaultVolume(&s.Volumes[i])
	}
	eachContainer(s, defaultContainer)
	for i := range s.EphemeralContainers {
		c := corev1.Container(s.EphemeralContainers[i].EphemeralContainerCommon)
		defaultContainer(&c)
		s.EphemeralContainers[i].EphemeralContainerCommon = corev1.EphemeralContainerCommon(c)
	}
	roundUpToMilli(s.Overhead)
	if s.Resources != nil {
		roundUpToMilli(s.Resources.Limits)
		roundUpToMilli(s.Resources.Requests)
	}
}

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

func orDefault[T any](v *T, d T) *T {
	if v == nil {
		return &d
	}
	return v
}

// eachContainer calls f for all init containers and containers.
func eachContainer(s *corev1.PodSpec, f func(*corev1.Container)) {
	for i := range s.InitContainers {
		f(&s.InitContainers[i])
	}
	for i := range s.Containers {
		f(&s.Containers[i])
	}
}

// requestLimits sets missing requests to the limits.
func requestLimits(r *corev1.ResourceRequirements, which func(corev1.ResourceName) bool) {
	for name, limit := range r.Limits {
		if _, ok := r.Requests[name]; ok || !which(name) {
			continue
		}
		setResource(&r.Requests, name, limit)
	}
}

// requestForPod sets missing requests of the pod-level resources, if these have limits: to the sum of the containers'
// requests or, without such, to the limit.
func requestForPod(pod *corev1.Pod) {
	r := pod.Spec.Resources
	if r == nil || len(r.Limits)+len(r.Requests) == 0 {
		return
	}
	limitPages(pod)
	if len(r.Limits) == 0 {
		return
	}
	for name, sum := range resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{}) {
		if _, requested := r.Requests[name]; requested || !ofPods(name) || hugePages(name) {
			continue
		}
		setResource(&r.Requests, name, sum)
	}
	requestLimits(r, ofPods)
}

// limitPages sets missing pod-level limits of huge pages to the sum of the containers' limits.
func limitPages(pod *corev1.Pod) {
	r := pod.Spec.Resources
	for name, sum := range resourcehelper.AggregateContainerLimits(pod, resourcehelper.PodResourcesOptions{}) {
		_, requested := r.Requests[name]
		if _, limited := r.Limits[name]; !limited && !requested && hugePages(name) {
			setResource(&r.Limits, name, sum)
		}
	}
}

func setResource(list *corev1.ResourceList, name corev1.ResourceName, amount resource.Quantity) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[name] = amount.DeepCopy()
}

func exposePortsOnHost(ports []corev1.ContainerPort) {
	for i := range ports {
		setDefault(&ports[i].HostPort, ports[i].ContainerPort)
	}
}

func defaultGRPC(g *corev1.GRPCAction) {
	if g != nil && g.Service == nil {
		g.Service = ptr.To("")
	}
}
