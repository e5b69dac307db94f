package pod

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// ephemeralRules are the rules for ephemeral containers, besides those for all containers.
var ephemeralRules = []rule[*corev1.EphemeralContainer]{
	{"", func(*corev1.EphemeralContainer) bool { return true }, asContainer, refuse,
		"the process runtime runs the programs of this machine, without images: run one in a container of the pod with stint exec (or kubectl exec)"},
	{"targetContainerName", func(c *corev1.EphemeralContainer) bool { return c.TargetContainerName != "" }, sharingPIDsOf, refuse,
		"takes a host process of this version, which is started when all pods have ended: remove it"},
}

// sharingPIDsOf is for process ids that are shared with one container. What plain processes may not do at all is refused anyway.
func sharingPIDsOf(i runtime.Info) bool { return !asContainer(i) || i.CanSharePIDsOf }
