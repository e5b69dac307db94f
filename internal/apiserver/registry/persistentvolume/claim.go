package persistentvolume

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	storage "k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

// Claim describes PersistentVolumeClaims.
func Claim(o pod.Options) kinds.Resource {
	return kinds.Resource{
		Version:    corev1.SchemeGroupVersion,
		Kind:       "PersistentVolumeClaim",
		Plural:     "persistentvolumeclaims",
		Singular:   "persistentvolumeclaim",
		ShortNames: []string{"pvc"},
		New:        func() runtime.Object { return &corev1.PersistentVolumeClaim{} },
		NewList:    func() runtime.Object { return &corev1.PersistentVolumeClaimList{} },

		Default: func(obj runtime.Object) {
			c := obj.(*corev1.PersistentVolumeClaim)
			c.Spec.VolumeMode = cmpOr(c.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
			if c.Status.Phase == "" {
				c.Status.Phase = corev1.ClaimPending
			}
		},
		PrepareForCreate: func(_ context.Context, obj runtime.Object) {
			c := obj.(*corev1.PersistentVolumeClaim)
			protect(c, core.ClaimProtection)
			completeDataSources(&c.Spec)
			c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			s := &obj.(*corev1.PersistentVolumeClaim).Spec
			return append(pod.ValidateClaimSpec(s, field.NewPath("spec")), refuseClaim(s, o)...)
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			c := obj.(*corev1.PersistentVolumeClaim)
			completeDataSources(&c.Spec)
			c.Status = old.(*corev1.PersistentVolumeClaim).Status
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			return validateClaimUpdate(obj.(*corev1.PersistentVolumeClaim), old.(*corev1.PersistentVolumeClaim))
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string {
			return warnClaim(obj.(*corev1.PersistentVolumeClaim))
		},
		WarningsOnUpdate: func(_ context.Context, obj, _ runtime.Object) []string {
			return warnClaim(obj.(*corev1.PersistentVolumeClaim))
		},
		Status: &kinds.Part{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				obj.(*corev1.PersistentVolumeClaim).Spec = old.(*corev1.PersistentVolumeClaim).Spec
			},
			ValidateUpdate: func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
				return validateClaimStatus(&obj.(*corev1.PersistentVolumeClaim).Status)
			},
		},
		Columns: claimColumns,
		Row:     claimRow,
	}
}

// completeDataSources fills one of dataSource and dataSourceRef with the other.
func completeDataSources(s *corev1.PersistentVolumeClaimSpec) {
	switch {
	case s.DataSource != nil && s.DataSourceRef == nil:
		s.DataSourceRef = &corev1.TypedObjectReference{APIGroup: s.DataSource.APIGroup, Kind: s.DataSource.Kind, Name: s.DataSource.Name}
	case s.DataSourceRef != nil && s.DataSource == nil && ptr.Deref(s.DataSourceRef.Namespace, "") == "":
		s.DataSource = &corev1.TypedLocalObjectReference{APIGroup: s.DataSourceRef.APIGroup, Kind: s.DataSourceRef.Kind, Name: s.DataSourceRef.Name}
	}
}

var (
	claimDoc     = corev1.PersistentVolumeClaimSpec{}.SwaggerDoc()
	claimColumns = []metav1.TableColumnDefinition{
		kinds.NameColumn,
		column("Status", corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()["phase"]),
		column("Volume", claimDoc["volumeName"]),
		column("Capacity", corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()["capacity"]),
		column("Access Modes", corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()["accessModes"]),
		column("StorageClass", claimDoc["storageClassName"]),
		column("VolumeAttributesClass", claimDoc["volumeAttributesClassName"]),
		kinds.AgeColumn,
		wide(column("VolumeMode", claimDoc["volumeMode"])),
	}
)

func claimRow(obj runtime.Object, now time.Time) []any {
	c := obj.(*corev1.PersistentVolumeClaim)
	size, modes := "", ""
	if c.Spec.VolumeName != "" {
		size, modes = capacity(c.Status.Capacity), shortModes(c.Status.AccessModes)
	}
	return []any{
		c.Name, phaseOf(c, string(c.Status.Phase)), c.Spec.VolumeName, size, modes, storage.GetPersistentVolumeClaimClass(c),
		orUnset(c.Spec.VolumeAttributesClassName), kinds.Age(c.CreationTimestamp, now), orUnset(c.Spec.VolumeMode),
	}
}
