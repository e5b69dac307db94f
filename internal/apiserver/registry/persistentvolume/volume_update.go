package persistentvolume

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

func validateVolumeUpdate(pv, old *corev1.PersistentVolume) field.ErrorList {
	s, was, p := &pv.Spec, &old.Spec, field.NewPath("spec")
	errs := validateVolume(pv)
	if !apiequality.Semantic.DeepEqual(s.PersistentVolumeSource, allowedSource(s, was)) {
		errs = append(errs, field.Forbidden(p.Child("persistentvolumesource"),
			"the kind of volume and its settings are immutable: delete the volume and create it anew"))
	}
	errs = append(errs, apivalidation.ValidateImmutableField(ptr.Deref(s.VolumeMode, ""), ptr.Deref(was.VolumeMode, ""), p.Child("volumeMode"))...)
	if was.NodeAffinity != nil && !apiequality.Semantic.DeepEqual(renewedLabels(s.NodeAffinity), renewedLabels(was.NodeAffinity)) {
		errs = append(errs, apivalidation.ValidateImmutableField(s.NodeAffinity, was.NodeAffinity, p.Child("nodeAffinity"))...)
	}
	if was.VolumeAttributesClassName != nil && s.VolumeAttributesClassName == nil {
		errs = append(errs, field.Forbidden(p.Child("volumeAttributesClassName"), "cannot be removed"))
	}
	return errs
}

// allowedSource returns the kind of volume with the only change that is allowed: a secret by which a driver lets the volume
// grow.
func allowedSource(s, was *corev1.PersistentVolumeSpec) corev1.PersistentVolumeSource {
	source := *was.PersistentVolumeSource.DeepCopy()
	if source.CSI != nil && source.CSI.ControllerExpandSecretRef == nil && s.CSI != nil {
		source.CSI.ControllerExpandSecretRef = s.CSI.ControllerExpandSecretRef
	}
	return source
}

// renewedLabels returns the affinity with new labels of nodes instead of deprecated ones, which mean the same.
func renewedLabels(a *corev1.VolumeNodeAffinity) *corev1.VolumeNodeAffinity {
	if a == nil || a.Required == nil {
		return a
	}
	a = a.DeepCopy()
	for i := range a.Required.NodeSelectorTerms {
		for j := range a.Required.NodeSelectorTerms[i].MatchExpressions {
			e := &a.Required.NodeSelectorTerms[i].MatchExpressions[j]
			e.Key = pod.RenewedNodeLabel(e.Key)
		}
	}
	return a
}
