package volumes

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/downward"
)

// file is one file of a volume. Maps of files have its path in the volume as key.
type file struct {
	data []byte
	mode int32
}

const defaultMode = corev1.ConfigMapVolumeSourceDefaultMode

// files returns the files of a volume that shows API objects.
func (m Maker) files(ctx context.Context, pod *corev1.Pod, v *corev1.Volume) (map[string]file, error) {
	switch {
	case v.ConfigMap != nil:
		return m.configMap(ctx, pod, v.ConfigMap.Name, selection{v.ConfigMap.Items, v.ConfigMap.DefaultMode, v.ConfigMap.Optional})
	case v.Secret != nil:
		return m.secret(ctx, pod, v.Secret.SecretName, selection{v.Secret.Items, v.Secret.DefaultMode, v.Secret.Optional})
	case v.DownwardAPI != nil:
		return m.downward(pod, v.DownwardAPI.Items, v.DownwardAPI.DefaultMode)
	case v.Projected != nil:
		return m.projected(ctx, pod, v.Projected)
	}
	return nil, fmt.Errorf("this kind of volume is not supported")
}

// projected lays several sources over each other; of two files at one path the later wins.
func (m Maker) projected(ctx context.Context, pod *corev1.Pod, p *corev1.ProjectedVolumeSource) (map[string]file, error) {
	all := map[string]file{}
	for _, s := range p.Sources {
		var files map[string]file
		var err error
		switch {
		case s.ConfigMap != nil:
			files, err = m.configMap(ctx, pod, s.ConfigMap.Name, selection{s.ConfigMap.Items, p.DefaultMode, s.ConfigMap.Optional})
		case s.Secret != nil:
			files, err = m.secret(ctx, pod, s.Secret.Name, selection{s.Secret.Items, p.DefaultMode, s.Secret.Optional})
		case s.DownwardAPI != nil:
			files, err = m.downward(pod, s.DownwardAPI.Items, p.DefaultMode)
		default:
			err = fmt.Errorf("this kind of projected source is not supported")
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(all, files)
	}
	return all, nil
}

func (m Maker) configMap(ctx context.Context, pod *corev1.Pod, name string, s selection) (map[string]file, error) {
	object, err := m.Configs.ConfigMap(ctx, pod.Namespace, name, s.optional)
	if err != nil || object == nil {
		return nil, err
	}
	data := maps.Clone(object.BinaryData)
	if data == nil {
		data = map[string][]byte{}
	}
	for key, value := range object.Data {
		data[key] = []byte(value)
	}
	return s.pick(data, "configmap "+name)
}

func (m Maker) secret(ctx context.Context, pod *corev1.Pod, name string, s selection) (map[string]file, error) {
	object, err := m.Configs.Secret(ctx, pod.Namespace, name, s.optional)
	if err != nil || object == nil {
		return nil, err
	}
	return s.pick(object.Data, "secret "+name)
}

func (m Maker) downward(pod *corev1.Pod, items []corev1.DownwardAPIVolumeFile, mode *int32) (map[string]file, error) {
	files := make(map[string]file, len(items))
	for _, item := range items {
		value, err := m.downwardValue(pod, item)
		if err != nil {
			return nil, fmt.Errorf("file %s: %w", item.Path, err)
		}
		files[item.Path] = file{data: []byte(value), mode: modeOf(item.Mode, mode)}
	}
	return files, nil
}

func (m Maker) downwardValue(pod *corev1.Pod, item corev1.DownwardAPIVolumeFile) (string, error) {
	if item.FieldRef != nil {
		return downward.Field(pod, m.Facts, item.FieldRef.FieldPath)
	}
	if item.ResourceFieldRef != nil {
		return downward.Resource(pod, "", m.Facts, item.ResourceFieldRef)
	}
	return "", fmt.Errorf("neither fieldRef nor resourceFieldRef is set")
}

// selection is which keys of an object become files, and how.
type selection struct {
	items    []corev1.KeyToPath
	mode     *int32
	optional *bool
}

func (s selection) pick(data map[string][]byte, from string) (map[string]file, error) {
	files := make(map[string]file, len(data))
	if len(s.items) == 0 {
		for key, value := range data {
			files[key] = file{data: value, mode: modeOf(nil, s.mode)}
		}
		return files, nil
	}
	for _, item := range s.items {
		value, ok := data[item.Key]
		if !ok {
			if s.optional != nil && *s.optional {
				continue
			}
			return nil, fmt.Errorf("%s has no key %q", from, item.Key)
		}
		files[item.Path] = file{data: value, mode: modeOf(item.Mode, s.mode)}
	}
	return files, nil
}

func modeOf(own, general *int32) int32 {
	switch {
	case own != nil:
		return *own
	case general != nil:
		return *general
	}
	return defaultMode
}
