// Package podneeds finds the objects that a pod cannot start without: the ConfigMaps, Secrets and PersistentVolumeClaims that
// it refers to, and its ServiceAccount.
package podneeds

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Kind is the kind of an object.
type Kind string

// The kinds, in the order in which Of returns them.
const (
	ServiceAccount        Kind = "ServiceAccount"
	ConfigMap             Kind = "ConfigMap"
	Secret                Kind = "Secret"
	PersistentVolumeClaim Kind = "PersistentVolumeClaim"
)

var kinds = []Kind{ServiceAccount, ConfigMap, Secret, PersistentVolumeClaim}

// Need is an object that a pod needs, in its own namespace.
type Need struct {
	Kind Kind
	Name string
	// Keys are those that the pod uses of a ConfigMap or Secret, as far as it names them; sorted.
	Keys []string
}

// Of returns what the pod needs: each object once, by kinds, else in the order of the pod. Optional references and pull secrets
// are left out, as the pod starts without them.
func Of(pod *corev1.PodSpec) []Need {
	var n needs
	if pod.ServiceAccountName != "" && pod.ServiceAccountName != "default" {
		n.add(ServiceAccount, pod.ServiceAccountName)
	}
	for _, list := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range list {
			n.environment(&list[i])
		}
	}
	for i := range pod.Volumes {
		n.volume(pod, &pod.Volumes[i])
	}
	slices.SortStableFunc(n, func(a, b Need) int { return slices.Index(kinds, a.Kind) - slices.Index(kinds, b.Kind) })
	return n
}

type needs []Need

func (n *needs) add(kind Kind, name string, keys ...string) {
	if name == "" {
		return
	}
	at := slices.IndexFunc(*n, func(other Need) bool { return other.Kind == kind && other.Name == name })
	if at < 0 {
		at = len(*n)
		*n = append(*n, Need{Kind: kind, Name: name})
	}
	need := &(*n)[at]
	need.Keys = append(need.Keys, keys...)
	slices.Sort(need.Keys)
	need.Keys = slices.Compact(need.Keys)
}

func (n *needs) environment(c *corev1.Container) {
	for _, from := range c.EnvFrom {
		if ref := from.ConfigMapRef; ref != nil && !ptr.Deref(ref.Optional, false) {
			n.add(ConfigMap, ref.Name)
		}
		if ref := from.SecretRef; ref != nil && !ptr.Deref(ref.Optional, false) {
			n.add(Secret, ref.Name)
		}
	}
	for _, v := range c.Env {
		if v.ValueFrom == nil {
			continue
		}
		if ref := v.ValueFrom.ConfigMapKeyRef; ref != nil && !ptr.Deref(ref.Optional, false) {
			n.add(ConfigMap, ref.Name, ref.Key)
		}
		if ref := v.ValueFrom.SecretKeyRef; ref != nil && !ptr.Deref(ref.Optional, false) {
			n.add(Secret, ref.Name, ref.Key)
		}
	}
}

func (n *needs) volume(pod *corev1.PodSpec, v *corev1.Volume) {
	if c := v.PersistentVolumeClaim; c != nil {
		n.add(PersistentVolumeClaim, c.ClaimName)
	}
	if c := v.ConfigMap; c != nil && !ptr.Deref(c.Optional, false) {
		n.add(ConfigMap, c.Name, keysOf(c.Items, pod, v)...)
	}
	if s := v.Secret; s != nil && !ptr.Deref(s.Optional, false) {
		n.add(Secret, s.SecretName, keysOf(s.Items, pod, v)...)
	}
	if v.Projected == nil {
		return
	}
	for _, source := range v.Projected.Sources {
		if c := source.ConfigMap; c != nil && !ptr.Deref(c.Optional, false) {
			n.add(ConfigMap, c.Name, keysOf(c.Items, nil, v)...)
		}
		if s := source.Secret; s != nil && !ptr.Deref(s.Optional, false) {
			n.add(Secret, s.Name, keysOf(s.Items, nil, v)...)
		}
	}
}

// keysOf returns the keys that a volume takes of its object. Without a selection, files that containers mount by themselves are
// keys.
func keysOf(items []corev1.KeyToPath, pod *corev1.PodSpec, v *corev1.Volume) []string {
	var keys []string
	for _, item := range items {
		keys = append(keys, item.Key)
	}
	if len(items) > 0 || pod == nil {
		return keys
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, m := range c.VolumeMounts {
			if m.Name == v.Name && m.SubPath != "" {
				keys = append(keys, m.SubPath)
			}
		}
	}
	return keys
}
