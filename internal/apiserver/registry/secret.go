package registry

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// Secret describes Secrets.
func Secret() kinds.Resource {
	return kinds.Resource{
		Version:  corev1.SchemeGroupVersion,
		Kind:     "Secret",
		Plural:   "secrets",
		Singular: "secret",
		New:      func() runtime.Object { return &corev1.Secret{} },
		NewList:  func() runtime.Object { return &corev1.SecretList{} },
		Default:  func(obj runtime.Object) { defaultSecret(obj.(*corev1.Secret)) },
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validateSecret(obj.(*corev1.Secret))
		},
		WarningsOnCreate: func(_ context.Context, obj runtime.Object) []string {
			if obj.(*corev1.Secret).Type == corev1.SecretTypeServiceAccountToken {
				return []string{"type: no token will be put into this secret: tokens of service accounts are not issued here"}
			}
			return nil
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			return validateSecretUpdate(obj.(*corev1.Secret), old.(*corev1.Secret))
		},
		SelectableFields: []kinds.SelectableField{{Name: "type", Value: func(obj runtime.Object) string {
			return string(obj.(*corev1.Secret).Type)
		}}},
		Columns: []metav1.TableColumnDefinition{
			kinds.NameColumn,
			{Name: "Type", Type: "string", Description: corev1.Secret{}.SwaggerDoc()["type"]},
			{Name: "Data", Type: "string", Description: corev1.Secret{}.SwaggerDoc()["data"]},
			kinds.AgeColumn,
		},
		Row: func(obj runtime.Object, now time.Time) []any {
			s := obj.(*corev1.Secret)
			return []any{s.Name, string(s.Type), int64(len(s.Data)), kinds.Age(s.CreationTimestamp, now)}
		},
	}
}

// defaultSecret sets the type and moves stringData, which is never stored, to data.
func defaultSecret(s *corev1.Secret) {
	if s.Type == "" {
		s.Type = corev1.SecretTypeOpaque
	}
	if len(s.StringData) > 0 && s.Data == nil {
		s.Data = make(map[string][]byte, len(s.StringData))
	}
	for key, value := range s.StringData {
		s.Data[key] = []byte(value)
	}
	s.StringData = nil
}

func validateSecret(s *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	p := field.NewPath("data")
	size := 0
	for _, key := range slices.Sorted(maps.Keys(s.Data)) {
		errs = append(errs, validateDataKey(key, p)...)
		size += len(s.Data[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(p, "", corev1.MaxSecretSize))
	}
	return append(errs, validateSecretType(s, p)...)
}

// validateSecretType requires the keys that secrets of this type must have.
func validateSecretType(s *corev1.Secret, p *field.Path) field.ErrorList {
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			return field.ErrorList{field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), "must be set")}
		}
	case corev1.SecretTypeDockercfg:
		return validateJSONKey(s, corev1.DockerConfigKey, p)
	case corev1.SecretTypeDockerConfigJson:
		return validateJSONKey(s, corev1.DockerConfigJsonKey, p)
	case corev1.SecretTypeBasicAuth:
		errs := requireKeys(s, p, corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey)
		if len(errs) == 2 { // one of the two is enough
			return errs
		}
	case corev1.SecretTypeSSHAuth:
		if len(s.Data[corev1.SSHAuthPrivateKey]) == 0 {
			return field.ErrorList{field.Required(p.Key(corev1.SSHAuthPrivateKey), "must be set")}
		}
	case corev1.SecretTypeTLS:
		return requireKeys(s, p, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	return nil
}

func requireKeys(s *corev1.Secret, p *field.Path, keys ...string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range keys {
		if _, ok := s.Data[key]; !ok {
			errs = append(errs, field.Required(p.Key(key), "must be set"))
		}
	}
	return errs
}

func validateJSONKey(s *corev1.Secret, key string, p *field.Path) field.ErrorList {
	content, ok := s.Data[key]
	if !ok {
		return field.ErrorList{field.Required(p.Key(key), "must be set")}
	}
	if err := json.Unmarshal(content, &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(p.Key(key), "<secret contents redacted>", err.Error())}
	}
	return nil
}

func validateSecretUpdate(s, was *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	if s.Type != was.Type {
		errs = append(errs, field.Invalid(field.NewPath("type"), s.Type, "field is immutable: delete the secret and create it anew"))
	}
	errs = append(errs, validateImmutable(was.Immutable, s.Immutable, map[string]bool{
		"data": !apiequality.Semantic.DeepEqual(s.Data, was.Data),
	})...)
	return append(errs, validateSecret(s)...)
}
