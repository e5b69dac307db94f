package wrappers

import (
	corev1 "k8s.io/api/core/v1"
)

// podSpec is the part of a wrapper W that describes a pod: that of a pod itself, or of a template.
type podSpec[W any] struct {
	wrapper W
	spec    *corev1.PodSpec
}

// runOnce is what every wrapper begins with.
func runOnce() corev1.PodSpec {
	return corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: containers("c")}
}

func containers(names ...string) (all []corev1.Container) {
	for _, name := range names {
		all = append(all, corev1.Container{Name: name, Image: "busybox"})
	}
	return all
}

func (p podSpec[W]) RestartPolicy(policy corev1.RestartPolicy) W {
	p.spec.RestartPolicy = policy
	return p.wrapper
}

// Containers are of these names, in the place of those before.
func (p podSpec[W]) Containers(names ...string) W {
	p.spec.Containers = containers(names...)
	return p.wrapper
}

func (p podSpec[W]) Image(image string) W {
	p.spec.Containers[0].Image = image
	return p.wrapper
}

func (p podSpec[W]) Command(command ...string) W {
	p.spec.Containers[0].Command = command
	return p.wrapper
}

func (p podSpec[W]) Args(args ...string) W {
	p.spec.Containers[0].Args = args
	return p.wrapper
}

func (p podSpec[W]) NodeName(node string) W {
	p.spec.NodeName = node
	return p.wrapper
}
