package volumes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podspec"
)

// Check returns why this machine cannot provide the pod's volumes; nil if it can.
func Check(pod *corev1.Pod, info runtime.Info) error {
	byName := byName(pod)
	for c := range podspec.Containers(&pod.Spec) {
		if len(c.VolumeDevices) > 0 {
			return fmt.Errorf("container %s: volumeDevices are not supported; use volumeMounts", c.Name)
		}
		if len(c.VolumeMounts) > 0 && !info.CanMount {
			return fmt.Errorf("container %s: volumes cannot be mounted on this machine: %s", c.Name, info.WhyNoMount)
		}
		for _, m := range c.VolumeMounts {
			if err := checkMount(byName[m.Name]); err != nil {
				return fmt.Errorf("container %s: volume %s: %w", c.Name, m.Name, err)
			}
		}
	}
	return nil
}

func checkMount(v *corev1.Volume) error {
	if v == nil {
		return fmt.Errorf("the pod has no volume of this name")
	}
	switch {
	case v.EmptyDir != nil:
		if v.EmptyDir.Medium != corev1.StorageMediumMemory && v.EmptyDir.Medium != corev1.StorageMediumDefault {
			return fmt.Errorf("emptyDir medium %q is not supported; use Memory or none", v.EmptyDir.Medium)
		}
		return nil
	case v.HostPath != nil, v.ConfigMap != nil, v.Secret != nil, v.DownwardAPI != nil, v.PersistentVolumeClaim != nil, v.Ephemeral != nil:
		return nil
	case v.Projected != nil:
		return checkProjected(v.Projected)
	}
	return fmt.Errorf("this kind of volume is not supported; use emptyDir, hostPath, configMap, secret, downwardAPI, projected, persistentVolumeClaim or ephemeral")
}

func checkProjected(p *corev1.ProjectedVolumeSource) error {
	for _, s := range p.Sources {
		if s.ConfigMap == nil && s.Secret == nil && s.DownwardAPI == nil {
			return fmt.Errorf("a projected volume supports only the sources configMap, secret and downwardAPI")
		}
	}
	return nil
}

func byName(pod *corev1.Pod) map[string]*corev1.Volume {
	m := make(map[string]*corev1.Volume, len(pod.Spec.Volumes))
	for i := range pod.Spec.Volumes {
		m[pod.Spec.Volumes[i].Name] = &pod.Spec.Volumes[i]
	}
	return m
}
