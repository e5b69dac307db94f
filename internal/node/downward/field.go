// Package downward returns the values of fieldRef and resourceFieldRef, for environment variables and for files.
package downward

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Facts are the values that come from the machine. They are known before the pod's status is written.
type Facts struct {
	NodeName string
	// IP is the address of the machine, which pods share that have none of their own.
	IP          string
	Allocatable corev1.ResourceList
}

// Field returns the value of a field of the pod, as a string.
func Field(pod *corev1.Pod, facts Facts, path string) (string, error) {
	if name, key, ok := subscript(path); ok {
		switch name {
		case "metadata.labels":
			return pod.Labels[key], nil
		case "metadata.annotations":
			return pod.Annotations[key], nil
		}
		return "", fmt.Errorf("field path %q: only metadata.labels and metadata.annotations take a key", path)
	}
	switch path {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "metadata.labels":
		return lines(pod.Labels), nil
	case "metadata.annotations":
		return lines(pod.Annotations), nil
	case "spec.nodeName":
		return facts.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return facts.IP, nil
	case "status.podIP", "status.podIPs":
		return cmp.Or(pod.Status.PodIP, facts.IP), nil
	}
	return "", fmt.Errorf("field path %q is not supported in a fieldRef", path)
}

// subscript splits metadata.labels['key'].
func subscript(path string) (name, key string, ok bool) {
	name, rest, found := strings.Cut(path, "['")
	if !found || !strings.HasSuffix(rest, "']") {
		return "", "", false
	}
	return name, strings.TrimSuffix(rest, "']"), true
}

// lines writes a map as one key="value" a line, sorted, so that the same map always gives the same file.
func lines(m map[string]string) string {
	var b strings.Builder
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(key + "=" + strconv.Quote(m[key]))
	}
	return b.String()
}
