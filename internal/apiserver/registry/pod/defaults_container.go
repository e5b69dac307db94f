package pod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func defaultContainer(c *corev1.Container) {
	setDefault(&c.ImagePullPolicy, defaultPullPolicy(c.Image))
	setDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		setDefault(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		from := c.Env[i].ValueFrom
		if from != nil && from.FieldRef != nil {
			setDefault(&from.FieldRef.APIVersion, "v1")
		}
		if from != nil && from.FileKeyRef != nil {
			from.FileKeyRef.Optional = orDefault(from.FileKeyRef.Optional, false)
		}
	}
	roundUpToMilli(c.Resources.Limits)
	roundUpToMilli(c.Resources.Requests)
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		defaultProbe(p)
	}
	if c.Lifecycle != nil {
		defaultHook(c.Lifecycle.PostStart)
		defaultHook(c.Lifecycle.PreStop)
	}
}

func defaultProbe(p *corev1.Probe) {
	if p == nil {
		return
	}
	setDefault(&p.TimeoutSeconds, 1)
	setDefault(&p.PeriodSeconds, 10)
	setDefault(&p.SuccessThreshold, 1)
	setDefault(&p.FailureThreshold, 3)
	defaultHTTPGet(p.HTTPGet)
	defaultGRPC(p.GRPC)
}

func defaultHook(h *corev1.LifecycleHandler) {
	if h != nil {
		defaultHTTPGet(h.HTTPGet)
	}
}

func defaultHTTPGet(g *corev1.HTTPGetAction) {
	if g != nil {
		setDefault(&g.Path, "/")
		setDefault(&g.Scheme, corev1.URISchemeHTTP)
	}
}

// roundUpToMilli rounds the quantities up to thousandths, the precision of resources.
func roundUpToMilli(list corev1.ResourceList) {
	for name, quantity := range list {
		rounded := quantity.DeepCopy()
		if !rounded.RoundUp(resource.Milli) {
			list[name] = rounded
		}
	}
}
