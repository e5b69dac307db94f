package persistentvolume

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// Volume describes PersistentVolumes.
func Volume(pod.Options) kinds.Resource {
	return kinds.Resource{
		Version:       corev1.SchemeGroupVersion,
		Kind:          "PersistentVolume",
		Plural:        "persistentvolumes",
		Singular:      "persistentvolume",
		ShortNames:    []string{"pv"},
		ClusterScoped: true,
		New:           func() runtime.Object { return &corev1.PersistentVolume{} },
		NewList:       func() runtime.Object { return &corev1.PersistentVolumeList{} },

		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			obj.(*corev1.PersistentVolume).Status = old.(*corev1.PersistentVolume).Status
		},
		Status: &kinds.StatusStrategy{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				obj.(*corev1.PersistentVolume).Spec = old.(*corev1.PersistentVolume).Spec
			},
		},
		Columns: []metav1.TableColumnDefinition{kinds.NameColumn, kinds.AgeColumn},
		Row: func(obj runtime.Object, now time.Time) []any {
			v := obj.(*corev1.PersistentVolume)
			return []any{v.Name, kinds.Age(v.CreationTimestamp, now)}
		},
	}
}
