package env

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/downward"
)

// value returns the value of a variable, and false if it stays unset because an optional key is missing.
func (r Resolver) value(ctx context.Context, v *Vars, pod Pod, container string, e *corev1.EnvVar) (string, bool, error) {
	from := e.ValueFrom
	if e.Value != "" || from == nil {
		return Expand(e.Value, v.Lookup), true, nil
	}
	switch {
	case from.FieldRef != nil:
		value, err := downward.Field(pod.Pod, r.Facts, from.FieldRef.FieldPath)
		return value, true, err
	case from.ResourceFieldRef != nil:
		value, err := downward.Resource(pod.Pod, container, r.Facts, from.ResourceFieldRef)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		return r.configMapKey(ctx, pod.Namespace, from.ConfigMapKeyRef)
	case from.SecretKeyRef != nil:
		return r.secretKey(ctx, pod.Namespace, from.SecretKeyRef)
	case from.FileKeyRef != nil:
		return fileKey(pod.VolumesDir, from.FileKeyRef)
	}
	return "", false, fmt.Errorf("this kind of valueFrom is not supported; use fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef or fileKeyRef")
}

func (r Resolver) configMapKey(ctx context.Context, namespace string, ref *corev1.ConfigMapKeySelector) (string, bool, error) {
	m, err := r.Configs.ConfigMap(ctx, namespace, ref.Name, ref.Optional)
	if err != nil || m == nil {
		return "", false, err
	}
	value, ok := m.Data[ref.Key]
	return value, ok, missing(ok, ref.Optional, ref.Key, "ConfigMap", namespace+"/"+ref.Name)
}

func (r Resolver) secretKey(ctx context.Context, namespace string, ref *corev1.SecretKeySelector) (string, bool, error) {
	s, err := r.Configs.Secret(ctx, namespace, ref.Name, ref.Optional)
	if err != nil || s == nil {
		return "", false, err
	}
	value, ok := s.Data[ref.Key]
	return string(value), ok, missing(ok, ref.Optional, ref.Key, "Secret", namespace+"/"+ref.Name)
}

func missing(found bool, optional *bool, key, kind, name string) error {
	if found || optional != nil && *optional {
		return nil
	}
	return fmt.Errorf("couldn't find key %s in %s %s", key, kind, name)
}
