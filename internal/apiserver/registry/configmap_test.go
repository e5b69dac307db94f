package registry

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestConfigMaps(t *testing.T) {
	frozen := &corev1.ConfigMap{Immutable: ptr.To(true), Data: map[string]string{"a": "1"}}
	runObjectCases(t, ConfigMap(), map[string]objectCase{
		"keys are file names":         {obj: &corev1.ConfigMap{Data: map[string]string{"a.b-c_D": "1"}, BinaryData: map[string][]byte{"x": nil}}},
		"keys are no paths":           {obj: &corev1.ConfigMap{Data: map[string]string{"a/b": "1"}, BinaryData: map[string][]byte{"..": nil}}, want: []string{"binaryData[..] Invalid", "data[a/b] Invalid"}},
		"a key is text or bytes":      {obj: &corev1.ConfigMap{Data: map[string]string{"a": "1"}, BinaryData: map[string][]byte{"a": nil}}, want: []string{"data[a] Invalid"}},
		"all of it is a megabyte":     {obj: &corev1.ConfigMap{Data: map[string]string{"a": strings.Repeat("x", 1<<20), "b": "1"}}, want: []string{"data TooLong"}},
		"data may change":             {old: &corev1.ConfigMap{}, obj: &corev1.ConfigMap{Data: map[string]string{"a": "1"}}},
		"an immutable one is kept":    {old: frozen, obj: &corev1.ConfigMap{Immutable: ptr.To(true), Data: map[string]string{"a": "2"}}, want: []string{"data Forbidden"}},
		"an immutable one stays that": {old: frozen, obj: &corev1.ConfigMap{Data: map[string]string{"a": "1"}}, want: []string{"immutable Forbidden"}},
		"an immutable one may be labelled": {old: frozen, obj: &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Immutable: ptr.To(true), Data: map[string]string{"a": "1"},
		}},
	})
}
