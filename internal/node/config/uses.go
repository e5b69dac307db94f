package config

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/persistentvolume"
	"github.com/stint-dev/stint/internal/podspec"
)

// Kind is a kind of object that pods refer to.
type Kind string

// The kinds.
const (
	ConfigMap Kind = "ConfigMap"
	Secret    Kind = "Secret"
	Claim     Kind = "PersistentVolumeClaim"
)

// Use is an object that a pod refers to.
type Use struct {
	Kind      Kind
	Namespace string
	Name      string
}

// UsesOf lists the ConfigMaps, Secrets and claims that the pod refers to, in environment variables, imagePullSecrets and
// volumes. It may list one twice.
func UsesOf(pod *corev1.Pod) []Use {
	var uses []Use
	add := func(kind Kind, name string) {
		uses = append(uses, Use{Kind: kind, Namespace: pod.Namespace, Name: name})
	}
	for c := range podspec.Containers(&pod.Spec) {
		environment(c, add)
	}
	for _, secret := range pod.Spec.ImagePullSecrets {
		add(Secret, secret.Name)
	}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		files(&v.VolumeSource, add)
		if claim := persistentvolume.ClaimOf(pod, v); claim != "" {
			add(Claim, claim)
		}
	}
	return uses
}

func environment(c *corev1.Container, add func(kind Kind, name string)) {
	for _, from := range c.EnvFrom {
		if from.ConfigMapRef != nil {
			add(ConfigMap, from.ConfigMapRef.Name)
		}
		if from.SecretRef != nil {
			add(Secret, from.SecretRef.Name)
		}
	}
	for _, v := range c.Env {
		if v.ValueFrom == nil {
			continue
		}
		if ref := v.ValueFrom.ConfigMapKeyRef; ref != nil {
			add(ConfigMap, ref.Name)
		}
		if ref := v.ValueFrom.SecretKeyRef; ref != nil {
			add(Secret, ref.Name)
		}
	}
}

func files(v *corev1.VolumeSource, add func(kind Kind, name string)) {
	if v.ConfigMap != nil {
		add(ConfigMap, v.ConfigMap.Name)
	}
	if v.Secret != nil {
		add(Secret, v.Secret.SecretName)
	}
	if v.Projected == nil {
		return
	}
	for _, source := range v.Projected.Sources {
		if source.ConfigMap != nil {
			add(ConfigMap, source.ConfigMap.Name)
		}
		if source.Secret != nil {
			add(Secret, source.Secret.Name)
		}
	}
}
