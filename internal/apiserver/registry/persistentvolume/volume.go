package persistentvolume

import (
	"context"
	"slices"
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

// Volume describes PersistentVolumes.
func Volume(o pod.Options) kinds.Resource {
	return kinds.Resource{
		Version:       corev1.SchemeGroupVersion,
		Kind:          "PersistentVolume",
		Plural:        "persistentvolumes",
		Singular:      "persistentvolume",
		ShortNames:    []string{"pv"},
		ClusterScoped: true,
		New:           func() runtime.Object { return &corev1.PersistentVolume{} },
		NewList:       func() runtime.Object { return &corev1.PersistentVolumeList{} },

		Default: func(obj runtime.Object) { defaultVolume(obj.(*corev1.PersistentVolume)) },
		PrepareForCreate: func(_ context.Context, obj runtime.Object) {
			pv := obj.(*corev1.PersistentVolume)
			protect(pv, core.VolumeProtection)
			pv.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: ptr.To(metav1.Now())}
		},
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			pv := obj.(*corev1.PersistentVolume)
			return append(validateVolume(pv), refuseVolume(&pv.Spec, o)...)
		},
		PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
			obj.(*corev1.PersistentVolume).Status = old.(*corev1.PersistentVolume).Status
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			return validateVolumeUpdate(obj.(*corev1.PersistentVolume), old.(*corev1.PersistentVolume))
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string {
			return warnVolume(obj.(*corev1.PersistentVolume))
		},
		WarningsOnUpdate: func(_ context.Context, obj, _ runtime.Object) []string {
			return warnVolume(obj.(*corev1.PersistentVolume))
		},
		Status: &kinds.Part{
			PrepareForUpdate: func(_ context.Context, obj, old runtime.Object) {
				pv, was := obj.(*corev1.PersistentVolume), old.(*corev1.PersistentVolume)
				pv.Spec = was.Spec
				if pv.Status.Phase != was.Status.Phase && pv.Status.LastPhaseTransitionTime.Equal(was.Status.LastPhaseTransitionTime) {
					pv.Status.LastPhaseTransitionTime = ptr.To(metav1.Now())
				}
			},
		},
		Columns: volumeColumns,
		Row:     volumeRow,
	}
}

// protect adds the finalizer that keeps what is used from being deleted.
func protect(obj metav1.Object, finalizer string) {
	if !slices.Contains(obj.GetFinalizers(), finalizer) {
		obj.SetFinalizers(append(obj.GetFinalizers(), finalizer))
	}
}

func defaultVolume(pv *corev1.PersistentVolume) {
	s := &pv.Spec
	if pv.Status.Phase == "" {
		pv.Status.Phase = corev1.VolumePending
	}
	if s.PersistentVolumeReclaimPolicy == "" {
		s.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	}
	s.VolumeMode = cmpOr(s.VolumeMode, corev1.PersistentVolumeFilesystem)
	if s.HostPath != nil {
		s.HostPath.Type = cmpOr(s.HostPath.Type, corev1.HostPathUnset)
	}
	defaultDisk(&s.PersistentVolumeSource)
}

// defaultDisk sets the defaults of network volumes.
func defaultDisk(s *corev1.PersistentVolumeSource) {
	if s.ISCSI != nil && s.ISCSI.ISCSIInterface == "" {
		s.ISCSI.ISCSIInterface = "default"
	}
	if s.RBD != nil {
		for _, f := range []struct {
			field *string
			value string
		}{{&s.RBD.RBDPool, "rbd"}, {&s.RBD.RadosUser, "admin"}, {&s.RBD.Keyring, "/etc/ceph/keyring"}} {
			if *f.field == "" {
				*f.field = f.value
			}
		}
	}
	if s.ScaleIO != nil {
		if s.ScaleIO.StorageMode == "" {
			s.ScaleIO.StorageMode = "ThinProvisioned"
		}
		if s.ScaleIO.FSType == "" {
			s.ScaleIO.FSType = "xfs"
		}
	}
	if d := s.AzureDisk; d != nil {
		d.CachingMode = cmpOr(d.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		d.Kind = cmpOr(d.Kind, corev1.AzureSharedBlobDisk)
		d.FSType = cmpOr(d.FSType, "ext4")
		d.ReadOnly = cmpOr(d.ReadOnly, false)
	}
}

func cmpOr[T any](v *T, d T) *T {
	if v == nil {
		return &d
	}
	return v
}

func column(name, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: description}
}

func wide(c metav1.TableColumnDefinition) metav1.TableColumnDefinition {
	c.Priority = 1
	return c
}

var (
	volumeDoc     = corev1.PersistentVolumeSpec{}.SwaggerDoc()
	volumeColumns = []metav1.TableColumnDefinition{
		kinds.NameColumn,
		column("Capacity", volumeDoc["capacity"]),
		column("Access Modes", volumeDoc["accessModes"]),
		column("Reclaim Policy", volumeDoc["persistentVolumeReclaimPolicy"]),
		column("Status", corev1.PersistentVolumeStatus{}.SwaggerDoc()["phase"]),
		column("Claim", volumeDoc["claimRef"]),
		column("StorageClass", volumeDoc["storageClassName"]),
		column("VolumeAttributesClass", volumeDoc["volumeAttributesClassName"]),
		column("Reason", corev1.PersistentVolumeStatus{}.SwaggerDoc()["reason"]),
		kinds.AgeColumn,
		wide(column("VolumeMode", volumeDoc["volumeMode"])),
	}
)

func volumeRow(obj runtime.Object, now time.Time) []any {
	pv := obj.(*corev1.PersistentVolume)
	claim := ""
	if r := pv.Spec.ClaimRef; r != nil {
		claim = r.Namespace + "/" + r.Name
	}
	return []any{
		pv.Name, capacity(pv.Spec.Capacity), shortModes(pv.Spec.AccessModes), string(pv.Spec.PersistentVolumeReclaimPolicy),
		phaseOf(pv, string(pv.Status.Phase)), claim, storage.GetPersistentVolumeClass(pv), orUnset(pv.Spec.VolumeAttributesClassName),
		pv.Status.Reason, kinds.Age(pv.CreationTimestamp, now), orUnset(pv.Spec.VolumeMode),
	}
}
