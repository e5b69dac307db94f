package registry

import (
	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
)

// defaultPod fills in what only pods get, not templates: what it takes from the pod's own fields would otherwise
// follow a template's fields no longer when these change.
func defaultPod(pod *corev1.Pod) {
	defaultPodSpec(&pod.Spec)
	pod.Spec.EnableServiceLinks = orDefault(pod.Spec.EnableServiceLinks, true)
	eachContainer(&pod.Spec, func(c *corev1.Container) {
		requestWhatIsLimited(&c.Resources)
		if pod.Spec.HostNetwork {
			exposePortsOnHost(c.Ports)
		}
	})
	requestForPod(pod)
}

// defaultPodSpec fills in what pods and templates have in common.
func defaultPodSpec(s *corev1.PodSpec) {
	setDefault(&s.RestartPolicy, corev1.RestartPolicyAlways)
	setDefault(&s.DNSPolicy, corev1.DNSClusterFirst)
	setDefault(&s.SchedulerName, corev1.DefaultSchedulerName)
	s.TerminationGracePeriodSeconds = orDefault(s.TerminationGracePeriodSeconds, int64(corev1.DefaultTerminationGracePeriodSeconds))
	s.SecurityContext = orDefault(s.SecurityContext, corev1.PodSecurityContext{})
	// The old name and the new one are one field.
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

// eachContainer calls f for init containers and containers alike.
func eachContainer(s *corev1.PodSpec, f func(*corev1.Container)) {
	for i := range s.InitContainers {
		f(&s.InitContainers[i])
	}
	for i := range s.Containers {
		f(&s.Containers[i])
	}
}

func defaultVolume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	switch {
	case v.HostPath != nil:
		v.HostPath.Type = orDefault(v.HostPath.Type, corev1.HostPathUnset)
	case v.Secret != nil:
		v.Secret.DefaultMode = orDefault(v.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	case v.ConfigMap != nil:
		v.ConfigMap.DefaultMode = orDefault(v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	case v.DownwardAPI != nil:
		v.DownwardAPI.DefaultMode = orDefault(v.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		defaultDownwardFiles(v.DownwardAPI.Items)
	case v.Projected != nil:
		defaultProjected(v.Projected)
	}
}

func defaultProjected(p *corev1.ProjectedVolumeSource) {
	p.DefaultMode = orDefault(p.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	for i := range p.Sources {
		s := &p.Sources[i]
		if s.DownwardAPI != nil {
			defaultDownwardFiles(s.DownwardAPI.Items)
		}
		if t := s.ServiceAccountToken; t != nil {
			t.ExpirationSeconds = orDefault(t.ExpirationSeconds, int64(60*60))
		}
	}
}

func defaultDownwardFiles(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		if f := files[i].FieldRef; f != nil {
			setDefault(&f.APIVersion, "v1")
		}
	}
}

// requestWhatIsLimited makes a limit the request where none is given.
func requestWhatIsLimited(r *corev1.ResourceRequirements) {
	for name, limit := range r.Limits {
		if _, ok := r.Requests[name]; ok {
			continue
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[name] = limit.DeepCopy()
	}
}

// requestForPod makes a limit of the whole pod its request, unless its containers request something already: then
// their sum is it.
func requestForPod(pod *corev1.Pod) {
	r := pod.Spec.Resources
	if r == nil || len(r.Limits) == 0 {
		return
	}
	for name, sum := range resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{}) {
		_, limited := r.Limits[name]
		_, requested := r.Requests[name]
		if !limited || requested {
			continue
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[name] = sum
	}
	requestWhatIsLimited(r)
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
