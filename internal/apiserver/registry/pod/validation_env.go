package pod

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

// ValidateEnv validates the environment variables of a container.
func ValidateEnv(vars []corev1.EnvVar, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range vars {
		errs = append(errs, validateVariable(&vars[i], p.Index(i))...)
	}
	return errs
}

func validateVariable(e *corev1.EnvVar, p *field.Path) field.ErrorList {
	errs := validateVariableName(e.Name, p.Child("name"))
	if e.ValueFrom == nil {
		return errs
	}
	if e.Value != "" {
		errs = append(errs, field.Invalid(p.Child("valueFrom"), "", "may not be specified when `value` is not empty"))
	}
	return append(errs, validateEnvSource(e.ValueFrom, p.Child("valueFrom"))...)
}

func validateVariableName(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return check.Invalid(p, name, validation.IsRelaxedEnvVarName(name))
}

func validateEnvSource(s *corev1.EnvVarSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	sources := 0
	if s.FieldRef != nil {
		sources++
		errs = append(errs, validateFieldRef(s.FieldRef, envFields, p.Child("fieldRef"))...)
	}
	if s.ResourceFieldRef != nil {
		sources++
		errs = append(errs, validateResourceFieldRef(s.ResourceFieldRef, p.Child("resourceFieldRef"))...)
	}
	if r := s.ConfigMapKeyRef; r != nil {
		sources++
		errs = append(errs, validateKeyRef(r.Name, r.Key, p.Child("configMapKeyRef"))...)
	}
	if r := s.SecretKeyRef; r != nil {
		sources++
		errs = append(errs, validateKeyRef(r.Name, r.Key, p.Child("secretKeyRef"))...)
	}
	if s.FileKeyRef != nil {
		sources++
		errs = append(errs, validateFileKeyRef(s.FileKeyRef, p.Child("fileKeyRef"))...)
	}
	const known = "fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef"
	switch {
	case sources == 0:
		errs = append(errs, field.Invalid(p, "", "must specify one of: "+known))
	case sources > 1:
		errs = append(errs, field.Invalid(p, "", "may not have more than one field specified at a time, of: "+known))
	}
	return errs
}

// downward lists the pod fields that a fieldRef may refer to: whole fields, and fields by key (metadata.labels['a']).
type downward struct {
	fields []string
	byKey  []string
}

var (
	envFields = downward{
		fields: []string{
			"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
			"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
			"spec.host", // old name of spec.nodeName
		},
		byKey: []string{"metadata.annotations", "metadata.labels"},
	}
	volumeFields = downward{
		fields: []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"},
		byKey:  []string{"metadata.annotations", "metadata.labels"},
	}
)

func validateFieldRef(r *corev1.ObjectFieldSelector, allowed downward, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.APIVersion != "v1" {
		errs = append(errs, field.NotSupported(p.Child("apiVersion"), r.APIVersion, []string{"v1"}))
	}
	at := p.Child("fieldPath")
	if r.FieldPath == "" {
		return append(errs, field.Required(at, "must be set"))
	}
	base, key, subscripted := splitSubscript(r.FieldPath)
	switch {
	case subscripted && slices.Contains(allowed.byKey, base):
		errs = append(errs, check.Invalid(p, r.FieldPath, validation.IsQualifiedName(subscriptedName(base, key)))...)
	case subscripted:
		errs = append(errs, field.Invalid(at, r.FieldPath, "no key can be taken of this field, only of "+strings.Join(allowed.byKey, " and ")))
	case !slices.Contains(allowed.fields, base):
		errs = append(errs, field.NotSupported(at, r.FieldPath, allowed.fields))
	}
	return errs
}

// splitSubscript splits a path such as metadata.labels['a'].
func splitSubscript(path string) (base, key string, ok bool) {
	base, rest, found := strings.Cut(path, "['")
	key, closed := strings.CutSuffix(rest, "']")
	if !found || !closed {
		return path, "", false
	}
	return base, key, true
}

// subscriptedName returns the key to validate. Keys of annotations are not case-sensitive.
func subscriptedName(base, key string) string {
	if base == "metadata.annotations" {
		return strings.ToLower(key)
	}
	return key
}

func validateKeyRef(name, key string, p *field.Path) field.ErrorList {
	errs := check.Subdomain(name, p.Child("name"))
	if key == "" {
		return append(errs, field.Required(p.Child("key"), "must be set"))
	}
	return append(errs, check.Invalid(p.Child("key"), key, validation.IsConfigMapKey(key))...)
}

func validateFileKeyRef(r *corev1.FileKeySelector, p *field.Path) field.ErrorList {
	errs := check.Label(r.VolumeName, p.Child("volumeName"))
	errs = append(errs, validateVariableName(r.Key, p.Child("key"))...)
	errs = append(errs, requireName(r.Path, p.Child("path"))...)
	return append(errs, validateNoDotDot(r.Path, p.Child("path"))...)
}

// validateVariableFiles requires that variables from files are in an emptyDir.
func validateVariableFiles(s *corev1.PodSpec, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for at, c := range ContainersAt(s, p) {
		for i, e := range c.Env {
			if e.ValueFrom == nil || e.ValueFrom.FileKeyRef == nil {
				continue
			}
			name, at := e.ValueFrom.FileKeyRef.VolumeName, at.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName")
			switch v := volumeOf(s, name); {
			case v == nil:
				errs = append(errs, noSuchVolume(name, at))
			case v.EmptyDir == nil:
				errs = append(errs, field.Invalid(at, name, "must be a volume of type emptyDir"))
			}
		}
	}
	return errs
}

func validateEnvFrom(from []corev1.EnvFromSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, s := range from {
		at := p.Index(i)
		if s.Prefix != "" {
			errs = append(errs, validateVariableName(s.Prefix, at.Child("prefix"))...)
		}
		if s.ConfigMapRef != nil {
			errs = append(errs, validateMapRef(s.ConfigMapRef.Name, at.Child("configMapRef", "name"))...)
		}
		if s.SecretRef != nil {
			errs = append(errs, validateMapRef(s.SecretRef.Name, at.Child("secretRef", "name"))...)
		}
		switch {
		case s.ConfigMapRef == nil && s.SecretRef == nil:
			errs = append(errs, field.Invalid(p, "", fmt.Sprintf("must specify one of: `configMapRef` or `secretRef`, in entry %d", i)))
		case s.ConfigMapRef != nil && s.SecretRef != nil:
			errs = append(errs, field.Invalid(p, "", fmt.Sprintf("may not have more than one field specified at a time, in entry %d", i)))
		}
	}
	return errs
}

// validateMapRef validates the name of a ConfigMap or Secret. It accepts a hyphen at the end, as Kubernetes does here.
func validateMapRef(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return check.Invalid(p, name, apivalidation.NameIsDNSSubdomain(name, true))
}
