package node

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/volumes"
)

// refuse returns why this machine cannot run the pod, as far as that depends on the machine. What no machine of
// ours can do is refused by the API server; what slipped past it, stored before this release, is refused here too.
func (n *Node) refuse(api *corev1.Pod) *lifecycle.Refusal {
	switch handler := runtime.HandlerOf(api); {
	case handler != runtime.ClassOCI && handler != runtime.ClassProcess:
		return &lifecycle.Refusal{Reason: "NotSupported", Message: "this machine has no runtime handler " + handler}
	case handler == runtime.ClassOCI && !n.isolation.CanRunImages:
		return &lifecycle.Refusal{Reason: "NotSupported", Message: "images cannot be run here: " + n.isolation.WhyNoImages}
	}
	for _, list := range [][]corev1.Container{api.Spec.InitContainers, api.Spec.Containers} {
		for i := range list {
			if err := n.checkContainer(api, &list[i]); err != nil {
				return &lifecycle.Refusal{Reason: "NotSupported", Message: err.Error()}
			}
		}
	}
	if err := volumes.Check(api, n.isolation.Of(runtime.HandlerOf(api))); err != nil {
		return &lifecycle.Refusal{Reason: "NotSupported", Message: err.Error()}
	}
	return nil
}

func (n *Node) checkContainer(api *corev1.Pod, c *corev1.Container) error {
	if c.LivenessProbe != nil || c.ReadinessProbe != nil || c.StartupProbe != nil || c.Lifecycle != nil {
		return fmt.Errorf("container %s: probes and lifecycle hooks are not supported", c.Name)
	}
	return n.checkUser(api, c)
}
