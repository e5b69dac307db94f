// Package podspec reads the spec of one pod. It computes only.
package podspec

import (
	"iter"

	corev1 "k8s.io/api/core/v1"
)

// Containers yields the containers of all kinds in place: init containers first, ephemeral ones last.
func Containers(s *corev1.PodSpec) iter.Seq[*corev1.Container] {
	return func(yield func(*corev1.Container) bool) {
		for _, list := range [...][]corev1.Container{s.InitContainers, s.Containers} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
		for i := range s.EphemeralContainers {
			if !yield((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon)) {
				return
			}
		}
	}
}

// Container returns the container of that name, of any kind; nil if there is none.
func Container(s *corev1.PodSpec, name string) *corev1.Container {
	for c := range Containers(s) {
		if c.Name == name {
			return c
		}
	}
	return nil
}
