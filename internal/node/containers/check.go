package containers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/volumes"
	"github.com/stint-dev/stint/internal/podspec"
)

// Check returns why this machine cannot run the pod. The API server refuses pods that no machine could run; those that
// an earlier release has stored are refused here too.
func (m *Maker) Check(pod *corev1.Pod) error {
	switch handler := runtime.HandlerOf(pod); {
	case handler != runtime.ClassOCI && handler != runtime.ClassProcess:
		return fmt.Errorf("this machine has no runtime handler %s", handler)
	case handler == runtime.ClassOCI && !m.isolation.CanRunImages:
		return fmt.Errorf("images cannot be run here: %s", m.isolation.WhyNoImages)
	}
	for c := range podspec.Containers(&pod.Spec) {
		if err := m.checkContainer(pod, c); err != nil {
			return err
		}
	}
	return volumes.Check(pod, m.isolation.Of(runtime.HandlerOf(pod)))
}

func (m *Maker) checkContainer(pod *corev1.Pod, c *corev1.Container) error {
	return m.checkUser(pod, c)
}
