package podstatus

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// LogsIncomplete is True for a pod whose logs lack output of its containers that could not be written. The message says how much.
const LogsIncomplete corev1.PodConditionType = "stint.dev/LogsIncomplete"

// IncompleteLogs says, for people, what the logs of p lack; empty if nothing is known to be missing.
func IncompleteLogs(p *corev1.Pod) string {
	c := ConditionIs(p, LogsIncomplete, corev1.ConditionTrue)
	if c == nil {
		return ""
	}
	return fmt.Sprintf("the logs of pod %s are incomplete: %s", p.Name, c.Message)
}
