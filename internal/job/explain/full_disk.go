package explain

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// onFullDisk names the pods that are among the largest on the full disk of their node; empty for none.
func (about Circumstances) onFullDisk(pods []*corev1.Pod) string {
	var largest []string
	for _, p := range pods {
		if text := about.Largest[p.UID]; text != "" {
			largest = append(largest, p.Name+" ("+text+")")
		}
	}
	if len(largest) == 0 {
		return ""
	}
	return "; the disk of the node is full, and the largest there include " + strings.Join(largest, ", ")
}
