package config

import (
	corev1 "k8s.io/api/core/v1"
)

// Use is a ConfigMap or Secret that a pod refers to.
type Use struct {
	Secret    bool
	Namespace string
	Name      string
}

// UsesOf lists the ConfigMaps and Secrets that the pod refers to, in environment variables, imagePullSecrets and
// volumes. It may list one twice.
func UsesOf(pod *corev1.Pod) []Use {
	var uses []Use
	add := func(secret bool, name string) {
		uses = append(uses, Use{Secret: secret, Namespace: pod.Namespace, Name: name})
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			environment(&list[i], add)
		}
	}
	for _, secret := range pod.Spec.ImagePullSecrets {
		add(true, secret.Name)
	}
	for i := range pod.Spec.Volumes {
		files(&pod.Spec.Volumes[i].VolumeSource, add)
	}
	return uses
}

func environment(c *corev1.Container, add func(secret bool, name string)) {
	for _, from := range c.EnvFrom {
		if from.ConfigMapRef != nil {
			add(false, from.ConfigMapRef.Name)
		}
		if from.SecretRef != nil {
			add(true, from.SecretRef.Name)
		}
	}
	for _, v := range c.Env {
		if v.ValueFrom == nil {
			continue
		}
		if ref := v.ValueFrom.ConfigMapKeyRef; ref != nil {
			add(false, ref.Name)
		}
		if ref := v.ValueFrom.SecretKeyRef; ref != nil {
			add(true, ref.Name)
		}
	}
}

func files(v *corev1.VolumeSource, add func(secret bool, name string)) {
	if v.ConfigMap != nil {
		add(false, v.ConfigMap.Name)
	}
	if v.Secret != nil {
		add(true, v.Secret.SecretName)
	}
	if v.Projected == nil {
		return
	}
	for _, source := range v.Projected.Sources {
		if source.ConfigMap != nil {
			add(false, source.ConfigMap.Name)
		}
		if source.Secret != nil {
			add(true, source.Secret.Name)
		}
	}
}
