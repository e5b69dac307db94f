// Package localstorage decides when a pod exceeds its limits of disk space, by a kubelet's rules and with its messages.
//
// The usage of a container is its logs and, if it has a root file system of its own, what it has written there. The
// usage of a pod is that of all its containers and its emptyDirs on disk. The rules, of which the first that applies
// counts:
//
//	emptyDir    more than its sizeLimit
//	pod         more than its containers' limits together, if any of them has one; init containers count as in requests
//	container   more than its own limit; that of an init container counts for the pod only
package localstorage

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	podresources "k8s.io/component-helpers/resource"
)

// Usage is how much disk space a pod uses, in bytes.
type Usage struct {
	// Roots and Logs are by the names of containers, init containers included, and EmptyDirs by their own.
	Roots, Logs, EmptyDirs map[string]int64
}

func (u Usage) container(name string) int64 { return u.Roots[name] + u.Logs[name] }

func (u Usage) total() (sum int64) {
	for _, kind := range []map[string]int64{u.Roots, u.Logs, u.EmptyDirs} {
		for _, bytes := range kind {
			sum += bytes
		}
	}
	return sum
}

// IsLimited reports whether the pod has any limit of disk space.
func IsLimited(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if _, limited := sizeLimit(&pod.Spec.Volumes[i]); limited {
			return true
		}
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if _, limited := containers[i].Resources.Limits[corev1.ResourceEphemeralStorage]; limited {
				return true
			}
		}
	}
	return false
}

// OnDisk reports whether a volume is an emptyDir on disk.
func OnDisk(v *corev1.Volume) bool {
	return v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumDefault
}

// Exceeded returns a message about the limit that the pod exceeds; empty if there is none.
func Exceeded(pod *corev1.Pod, u Usage) string {
	for _, rule := range []func(*corev1.Pod, Usage) string{emptyDirExceeded, podExceeded, containerExceeded} {
		if message := rule(pod, u); message != "" {
			return message
		}
	}
	return ""
}

func emptyDirExceeded(pod *corev1.Pod, u Usage) string {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if limit, limited := sizeLimit(v); limited && limit.CmpInt64(u.EmptyDirs[v.Name]) < 0 {
			return fmt.Sprintf("Usage of EmptyDir volume %q exceeds the limit %q. ", v.Name, limit.String())
		}
	}
	return ""
}

// sizeLimit returns the limit of an emptyDir on disk. Zero means no limit.
func sizeLimit(v *corev1.Volume) (resource.Quantity, bool) {
	if !OnDisk(v) || v.EmptyDir.SizeLimit == nil || v.EmptyDir.SizeLimit.Sign() <= 0 {
		return resource.Quantity{}, false
	}
	return *v.EmptyDir.SizeLimit, true
}

func podExceeded(pod *corev1.Pod, u Usage) string {
	limit, limited := podresources.PodLimits(pod, podresources.PodResourcesOptions{})[corev1.ResourceEphemeralStorage]
	if !limited || limit.CmpInt64(u.total()) >= 0 {
		return ""
	}
	return fmt.Sprintf("Pod ephemeral local storage usage exceeds the total limit of containers %s. ", limit.String())
}

func containerExceeded(pod *corev1.Pod, u Usage) string {
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if limit := c.Resources.Limits.StorageEphemeral(); !limit.IsZero() && limit.CmpInt64(u.container(c.Name)) < 0 {
			return fmt.Sprintf("Container %s exceeded its local ephemeral storage limit %q. ", c.Name, limit.String())
		}
	}
	return ""
}
