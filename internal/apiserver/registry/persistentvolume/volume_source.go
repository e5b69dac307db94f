package persistentvolume

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

// validateSource validates the kind of volume: exactly one is set.
func validateSource(s *corev1.PersistentVolumeSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	like, err := likeOfPod(&s.PersistentVolumeSource)
	if err != nil {
		return field.ErrorList{field.InternalError(p, err)}
	}
	found := *like != (corev1.VolumeSource{})
	if found || s.Local == nil && s.CSI == nil {
		errs = pod.ValidateVolumeSource(like, p)
		errs = append(errs, validateNamespaces(&s.PersistentVolumeSource, p)...)
	}
	for _, own := range []struct {
		field    string
		set      bool
		validate func() field.ErrorList
	}{
		{"local", s.Local != nil, func() field.ErrorList { return validateLocal(s, p) }},
		{"csi", s.CSI != nil, func() field.ErrorList { return validateCSI(s.CSI, p.Child("csi")) }},
	} {
		switch {
		case !own.set:
		case found:
			errs = append(errs, field.Forbidden(p.Child(own.field), "may not specify more than 1 volume type"))
		default:
			found = true
			errs = append(errs, own.validate()...)
		}
	}
	return errs
}

// likeOfPod returns the same kind of volume for a pod, whose fields have the same names. It leaves out local, which pods do
// not have, and csi, which is another thing there.
func likeOfPod(s *corev1.PersistentVolumeSource) (*corev1.VolumeSource, error) {
	shared := *s
	shared.Local, shared.CSI = nil, nil
	text, err := json.Marshal(shared)
	if err != nil {
		return nil, err
	}
	like := &corev1.VolumeSource{}
	return like, json.Unmarshal(text, like)
}

// validateNamespaces validates what volumes of pods do not have: the namespaces of what they refer to.
func validateNamespaces(s *corev1.PersistentVolumeSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if v := s.Glusterfs; v != nil && v.EndpointsNamespace != nil {
		errs = append(errs, check.Invalid(p.Child("glusterfs", "endpointsNamespace"), *v.EndpointsNamespace, validation.IsDNS1123Label(*v.EndpointsNamespace))...)
	}
	for _, f := range []struct {
		path  *field.Path
		empty bool
	}{
		{p.Child("azureFile", "secretNamespace"), s.AzureFile != nil && ptr.Deref(s.AzureFile.SecretNamespace, "unset") == ""},
		{p.Child("cinder", "secretRef", "namespace"), s.Cinder != nil && s.Cinder.SecretRef != nil && s.Cinder.SecretRef.Namespace == ""},
		{p.Child("iscsi", "secretRef", "name"), s.ISCSI != nil && s.ISCSI.SecretRef != nil && s.ISCSI.SecretRef.Name == ""},
	} {
		if f.empty {
			errs = append(errs, field.Required(f.path, "must be set"))
		}
	}
	return errs
}

func validateLocal(s *corev1.PersistentVolumeSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch at := p.Child("local", "path"); {
	case s.Local.Path == "":
		errs = append(errs, field.Required(at, "must be set"))
	case slices.Contains(strings.Split(s.Local.Path, "/"), ".."):
		errs = append(errs, field.Invalid(at, s.Local.Path, "must not contain '..'"))
	}
	if s.NodeAffinity == nil {
		errs = append(errs, field.Required(p.Child("nodeAffinity"), "must say on which node the volume is"))
	}
	return errs
}

func validateCSI(v *corev1.CSIPersistentVolumeSource, p *field.Path) field.ErrorList {
	errs := pod.ValidateDriver(v.Driver, p.Child("driver"))
	if v.VolumeHandle == "" {
		errs = append(errs, field.Required(p.Child("volumeHandle"), "must be set"))
	}
	for _, ref := range []struct {
		field  string
		secret *corev1.SecretReference
	}{
		{"controllerPublishSecretRef", v.ControllerPublishSecretRef}, {"controllerExpandSecretRef", v.ControllerExpandSecretRef},
		{"nodePublishSecretRef", v.NodePublishSecretRef}, {"nodeExpandSecretRef", v.NodeExpandSecretRef},
	} {
		if ref.secret != nil {
			errs = append(errs, validateSecret(ref.secret, p.Child(ref.field))...)
		}
	}
	return errs
}

func validateSecret(s *corev1.SecretReference, p *field.Path) field.ErrorList {
	errs := check.Label(s.Namespace, p.Child("namespace"))
	if s.Name == "" {
		return append(errs, field.Required(p.Child("name"), "must be set"))
	}
	return append(errs, check.Subdomain(s.Name, p.Child("name"))...)
}
