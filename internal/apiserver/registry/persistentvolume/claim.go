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

// Claim describes PersistentVolumeClaims.
func Claim(pod.Options) kinds.Resource {
	return kinds.Resource{
		Version:    corev1.SchemeGroupVersion,
		Kind:       "PersistentVolumeClaim",
		Plural:     "persistentvolumeclaims",
		Singular:   "persistentvolumeclaim",
		ShortNames: []string{"pvc"},
		New:        func() runtime.Object { return &corev1.PersistentVolumeClaim{} },
		NewList:    func() runtime.Object { return &corev1.PersistentVolumeClaimList{} },

		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			obj.(*corev1.PersistentVolumeClaim).Status = old.(*corev1.PersistentVolumeClaim).Status
		},
		Status: &kinds.StatusStrategy{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				obj.(*corev1.PersistentVolumeClaim).Spec = old.(*corev1.PersistentVolumeClaim).Spec
			},
		},
		Columns: []metav1.TableColumnDefinition{kinds.NameColumn, kinds.AgeColumn},
		Row: func(obj runtime.Object, now time.Time) []any {
			c := obj.(*corev1.PersistentVolumeClaim)
			return []any{c.Name, kinds.Age(c.CreationTimestamp, now)}
		},
	}
}
