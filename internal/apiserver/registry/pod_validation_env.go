package registry

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateEnv(vars []corev1.EnvVar, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range vars {
		errs = append(errs, validateVariable(&vars[i], p.Index(i))...)
	}
	return errs
}

func validateVariable(e *corev1.EnvVar, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if e.Name == "" {
		errs = append(errs, field.Required(p.Child("name"), "must be set"))
	} else {
		for _, msg := range validation.IsRelaxedEnvVarName(e.Name) {
			errs = append(errs, field.Invalid(p.Child("name"), e.Name, msg))
		}
	}
	if e.ValueFrom == nil {
		return errs
	}
	if e.Value != "" {
		errs = append(errs, field.Invalid(p.Child("valueFrom"), "", "may not be specified when `value` is not empty"))
	}
	return append(errs, validateEnvSource(e.ValueFrom, p.Child("valueFrom"))...)
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

// downward tells which fields of the pod a place may refer to: whole ones, and ones by key (metadata.labels['a']).
type downward struct {
	fields []string
	byKey  []string
}

var (
	envFields = downward{
		fields: []string{
			"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
			"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
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
		for _, msg := range validation.IsQualifiedName(subscriptedName(base, key)) {
			errs = append(errs, field.Invalid(at, r.FieldPath, msg))
		}
	case subscripted:
		errs = append(errs, field.Invalid(at, r.FieldPath, "no key can be taken of this field, only of "+strings.Join(allowed.byKey, " and ")))
	case !slices.Contains(allowed.fields, base):
		errs = append(errs, field.NotSupported(at, r.FieldPath, allowed.fields))
	}
	return errs
}

// splitSubscript takes metadata.labels['a'] apart.
func splitSubscript(path string) (base, key string, ok bool) {
	base, rest, found := strings.Cut(path, "['")
	key, closed := strings.CutSuffix(rest, "']")
	if !found || !closed {
		return path, "", false
	}
	return base, key, true
}

// subscriptedName is the name whose form is checked: annotations are looked up without regard to case.
func subscriptedName(base, key string) string {
	if base == "metadata.annotations" {
		return strings.ToLower(key)
	}
	return key
}

func validateKeyRef(name, key string, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if name == "" {
		errs = append(errs, field.Required(p.Child("name"), "must be set"))
	}
	if key == "" {
		return append(errs, field.Required(p.Child("key"), "must be set"))
	}
	for _, msg := range validation.IsConfigMapKey(key) {
		errs = append(errs, field.Invalid(p.Child("key"), key, msg))
	}
	return errs
}

func validateFileKeyRef(r *corev1.FileKeySelector, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.VolumeName == "" {
		errs = append(errs, field.Required(p.Child("volumeName"), "must be set"))
	}
	if r.Key == "" {
		errs = append(errs, field.Required(p.Child("key"), "must be set"))
	}
	return append(errs, validateFilePath(r.Path, p.Child("path"))...)
}

func validateEnvFrom(from []corev1.EnvFromSource, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, s := range from {
		at := p.Index(i)
		if s.Prefix != "" {
			for _, msg := range validation.IsRelaxedEnvVarName(s.Prefix) {
				errs = append(errs, field.Invalid(at.Child("prefix"), s.Prefix, msg))
			}
		}
		if s.ConfigMapRef != nil && s.ConfigMapRef.Name == "" {
			errs = append(errs, field.Required(at.Child("configMapRef", "name"), "must be set"))
		}
		if s.SecretRef != nil && s.SecretRef.Name == "" {
			errs = append(errs, field.Required(at.Child("secretRef", "name"), "must be set"))
		}
		switch {
		case s.ConfigMapRef == nil && s.SecretRef == nil:
			errs = append(errs, field.Invalid(at, "", "must specify one of: `configMapRef` or `secretRef`"))
		case s.ConfigMapRef != nil && s.SecretRef != nil:
			errs = append(errs, field.Invalid(at, "", "may not have more than one field specified at a time"))
		}
	}
	return errs
}

// refersTo tells whether a value builds on an earlier variable: PATH=/opt/bin:$(PATH).
func refersTo(value, name string) bool {
	return strings.Contains(value, "$("+name+")")
}
