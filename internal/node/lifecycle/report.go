package lifecycle

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/util/qos"
)

// report sets the pod's status from the observed state of its containers.
func (p *plan) report() {
	s := &p.Status
	s.ObservedGeneration = p.Pod.Generation
	s.QOSClass = p.Pod.Status.QOSClass
	if s.QOSClass == "" {
		s.QOSClass = qos.GetPodQOS(p.Pod)
	}
	if p.end != nil {
		s.Reason, s.Message = p.end.reason, p.end.message
	}
	if !p.StartTime.IsZero() {
		start := metaTime(p.StartTime)
		s.StartTime = &start
		s.HostIP, s.PodIP = p.Host.IP, cmp.Or(p.Host.PodIP, p.Host.IP)
		s.HostIPs = []corev1.HostIP{{IP: p.Host.IP}}
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	}
	for _, c := range p.containers {
		status := p.containerStatus(c)
		switch c.role {
		case main:
			s.ContainerStatuses = append(s.ContainerStatuses, status)
		case ephemeral:
			s.EphemeralContainerStatuses = append(s.EphemeralContainerStatuses, status)
		default:
			s.InitContainerStatuses = append(s.InitContainerStatuses, status)
		}
	}
	s.Phase = p.phase()
	s.Conditions = p.conditions()
	p.addLossEvents()
}

// metaTime truncates a time as the API does, so that a stored status compares equal to the same decided one.
func metaTime(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

func (p *plan) phase() corev1.PodPhase {
	if p.Ended {
		return p.finalPhase()
	}
	if !p.initializedOnce() {
		return corev1.PodPending
	}
	for _, c := range p.containers {
		if c.role == main && c.Last == nil {
			return corev1.PodPending
		}
	}
	return corev1.PodRunning
}

func (p *plan) finalPhase() corev1.PodPhase {
	if p.end.phase != "" {
		return p.end.phase
	}
	for _, c := range p.containers {
		if c.role == main && (c.Last == nil || c.Last.ExitCode != 0) {
			return corev1.PodFailed
		}
	}
	return corev1.PodSucceeded
}
