package registry

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// ConfigMap describes ConfigMaps.
func ConfigMap() kinds.Resource {
	return kinds.Resource{
		Version:    corev1.SchemeGroupVersion,
		Kind:       "ConfigMap",
		Plural:     "configmaps",
		Singular:   "configmap",
		ShortNames: []string{"cm"},
		New:        func() runtime.Object { return &corev1.ConfigMap{} },
		NewList:    func() runtime.Object { return &corev1.ConfigMapList{} },
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validateConfigMap(obj.(*corev1.ConfigMap))
		},
		ValidateUpdate: func(_ context.Context, obj, old runtime.Object) field.ErrorList {
			cm, was := obj.(*corev1.ConfigMap), old.(*corev1.ConfigMap)
			errs := validateImmutable(was.Immutable, cm.Immutable, map[string]bool{
				"data":       !apiequality.Semantic.DeepEqual(cm.Data, was.Data),
				"binaryData": !apiequality.Semantic.DeepEqual(cm.BinaryData, was.BinaryData),
			})
			return append(errs, validateConfigMap(cm)...)
		},
		Columns: []metav1.TableColumnDefinition{
			kinds.NameColumn,
			{Name: "Data", Type: "string", Description: corev1.ConfigMap{}.SwaggerDoc()["data"]},
			kinds.AgeColumn,
		},
		Row: func(obj runtime.Object, now time.Time) []any {
			cm := obj.(*corev1.ConfigMap)
			return []any{cm.Name, int64(len(cm.Data) + len(cm.BinaryData)), kinds.Age(cm.CreationTimestamp, now)}
		},
	}
}

func validateConfigMap(cm *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	size := 0
	data, binary := field.NewPath("data"), field.NewPath("binaryData")
	for _, key := range slices.Sorted(maps.Keys(cm.Data)) {
		errs = append(errs, validateDataKey(key, data)...)
		if _, twice := cm.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(data.Key(key), key, "duplicate of key present in binaryData"))
		}
		size += len(cm.Data[key])
	}
	for _, key := range slices.Sorted(maps.Keys(cm.BinaryData)) {
		errs = append(errs, validateDataKey(key, binary)...)
		size += len(cm.BinaryData[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(data, "", corev1.MaxSecretSize))
	}
	return errs
}

// validateDataKey requires that the key can be a file name.
func validateDataKey(key string, p *field.Path) field.ErrorList {
	return check.Invalid(p.Key(key), key, validation.IsConfigMapKey(key))
}

// validateImmutable refuses changes to an object that is marked as immutable. changed says for each field whether it has
// changed.
func validateImmutable(was, now *bool, changed map[string]bool) field.ErrorList {
	if !ptr.Deref(was, false) {
		return nil
	}
	var errs field.ErrorList
	if !ptr.Deref(now, false) {
		errs = append(errs, immutable("immutable"))
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		if changed[name] {
			errs = append(errs, immutable(name))
		}
	}
	return errs
}

func immutable(name string) *field.Error {
	return field.Forbidden(field.NewPath(name), "field is immutable when `immutable` is set: delete the object and create it anew")
}
