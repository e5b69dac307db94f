package pod

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// validateEphemeral validates the template of the claim for an ephemeral volume.
func validateEphemeral(v *corev1.EphemeralVolumeSource, p *field.Path) field.ErrorList {
	p = p.Child("volumeClaimTemplate")
	if v.VolumeClaimTemplate == nil {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	errs := validateClaimMeta(&v.VolumeClaimTemplate.ObjectMeta, p.Child("metadata"))
	return append(errs, ValidateClaimSpec(&v.VolumeClaimTemplate.Spec, p.Child("spec"))...)
}

// validateClaimMeta allows only labels and annotations, because the rest of the claim's metadata depends on the pod.
func validateClaimMeta(m *metav1.ObjectMeta, p *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabels(m.Labels, p.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(m.Annotations, p.Child("annotations"))...)
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"name", m.Name != ""}, {"generateName", m.GenerateName != ""}, {"namespace", m.Namespace != ""},
		{"finalizers", len(m.Finalizers) > 0}, {"ownerReferences", len(m.OwnerReferences) > 0},
	} {
		if f.set {
			errs = append(errs, field.Forbidden(p.Child(f.name), "cannot be set"))
		}
	}
	return errs
}

// ValidateClaimSpec validates the spec of a claim, or of the template of one.
func ValidateClaimSpec(s *corev1.PersistentVolumeClaimSpec, p *field.Path) field.ErrorList {
	errs := ValidateAccessModes(s.AccessModes, p.Child("accessModes"))
	errs = append(errs, validateSelector(s.Selector, p.Child("selector"))...)
	storage, at := s.Resources.Requests[corev1.ResourceStorage], p.Child("resources", "requests").Key(string(corev1.ResourceStorage))
	if _, set := s.Resources.Requests[corev1.ResourceStorage]; !set {
		errs = append(errs, field.Required(at, "must be set"))
	} else if storage.Sign() <= 0 {
		errs = append(errs, field.Invalid(at, storage.String(), "must be greater than zero"))
	}
	for _, class := range []struct {
		field string
		name  *string
	}{{"storageClassName", s.StorageClassName}, {"volumeAttributesClassName", s.VolumeAttributesClassName}} {
		if ptr.Deref(class.name, "") != "" {
			errs = append(errs, check.Subdomain(*class.name, p.Child(class.field))...)
		}
	}
	if s.VolumeMode != nil {
		errs = append(errs, check.Supported(*s.VolumeMode, p.Child("volumeMode"), corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)...)
	}
	return append(errs, validateDataSources(s, p)...)
}

// ValidateAccessModes validates the access modes of a claim or volume.
func ValidateAccessModes(modes []corev1.PersistentVolumeAccessMode, p *field.Path) field.ErrorList {
	if len(modes) == 0 {
		return field.ErrorList{field.Required(p, "at least 1 access mode is required")}
	}
	var errs field.ErrorList
	once, other := false, false
	for _, mode := range modes {
		wrong := check.Supported(mode, p, corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod)
		errs = append(errs, wrong...)
		once = once || mode == corev1.ReadWriteOncePod
		other = other || mode != corev1.ReadWriteOncePod && len(wrong) == 0
	}
	if once && other {
		errs = append(errs, field.Forbidden(p, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

// validateDataSources validates dataSource and dataSourceRef, which must match. Only the latter can have a namespace.
func validateDataSources(s *corev1.PersistentVolumeClaimSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if d := s.DataSource; d != nil {
		errs = validateDataSource(corev1.TypedObjectReference{APIGroup: d.APIGroup, Kind: d.Kind, Name: d.Name}, p.Child("dataSource"))
	}
	if s.DataSourceRef == nil {
		return errs
	}
	errs = append(errs, validateDataSource(*s.DataSourceRef, p.Child("dataSourceRef"))...)
	switch d := s.DataSource; {
	case d == nil:
	case ptr.Deref(s.DataSourceRef.Namespace, "") != "":
		errs = append(errs, field.Invalid(p, d.Name, "dataSource may not be specified when dataSourceRef.namespace is specified"))
	case !ptr.Equal(d.APIGroup, s.DataSourceRef.APIGroup), d.Kind != s.DataSourceRef.Kind, d.Name != s.DataSourceRef.Name:
		errs = append(errs, field.Invalid(p, d.Name, "dataSource must match dataSourceRef"))
	}
	return errs
}

func validateDataSource(r corev1.TypedObjectReference, p *field.Path) field.ErrorList {
	errs := requireAll(p, value{"name", r.Name}, value{"kind", r.Kind})
	group := ptr.Deref(r.APIGroup, "")
	if group == "" && r.Kind != "PersistentVolumeClaim" {
		errs = append(errs, field.Invalid(p, r.Kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
	}
	if group != "" {
		errs = append(errs, check.Subdomain(group, p.Child("apiGroup"))...)
	}
	if namespace := ptr.Deref(r.Namespace, ""); namespace != "" {
		errs = append(errs, check.Label(namespace, p.Child("namespace"))...)
	}
	return errs
}
