package persistentvolume

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

const (
	maxParameters     = 512
	maxParameterBytes = 256 << 10
)

func validateClass(c *storagev1.StorageClass) field.ErrorList {
	var errs field.ErrorList
	switch p := field.NewPath("provisioner"); {
	case c.Provisioner == "":
		errs = append(errs, field.Required(p, "must be set"))
	default:
		errs = append(errs, check.Invalid(p, c.Provisioner, validation.IsQualifiedName(strings.ToLower(c.Provisioner)))...)
	}
	errs = append(errs, validateParameters(c.Parameters, field.NewPath("parameters"))...)
	errs = append(errs, check.Supported(ptr.Deref(c.ReclaimPolicy, ""), field.NewPath("reclaimPolicy"),
		corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain)...)
	errs = append(errs, check.Among(ptr.Deref(c.VolumeBindingMode, ""), field.NewPath("volumeBindingMode"),
		storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)...)
	return append(errs, validateTopologies(c.AllowedTopologies, field.NewPath("allowedTopologies"))...)
}

func validateParameters(parameters map[string]string, p *field.Path) field.ErrorList {
	if len(parameters) > maxParameters {
		return field.ErrorList{field.TooMany(p, len(parameters), maxParameters)}
	}
	var errs field.ErrorList
	size := 0
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		if key == "" {
			errs = append(errs, field.Invalid(p, key, "a parameter must have a name"))
		}
		size += len(key) + len(parameters[key])
	}
	if size > maxParameterBytes {
		errs = append(errs, field.TooLong(p, "", maxParameterBytes))
	}
	return errs
}

func validateTopologies(terms []corev1.TopologySelectorTerm, p *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, term := range terms {
		keys := sets.New[string]()
		for j, e := range term.MatchLabelExpressions {
			at := p.Index(i).Child("matchLabelExpressions").Index(j)
			errs = append(errs, metav1validation.ValidateLabelName(e.Key, at.Child("key"))...)
			if len(e.Values) == 0 {
				errs = append(errs, field.Required(at.Child("values"), "must be set"))
			}
			values := sets.New[string]()
			for k, v := range e.Values {
				if values.Has(v) {
					errs = append(errs, field.Duplicate(at.Child("values").Index(k), v))
				}
				values.Insert(v)
			}
			if keys.Has(e.Key) {
				errs = append(errs, field.Duplicate(at.Child("key"), e.Key))
			}
			keys.Insert(e.Key)
		}
	}
	return errs
}

// validateClassUpdate refuses changes to what volumes were provisioned with.
func validateClassUpdate(c, was *storagev1.StorageClass) field.ErrorList {
	var errs field.ErrorList
	for _, f := range []struct {
		name     string
		now, was any
	}{
		{"parameters", c.Parameters, was.Parameters}, {"provisioner", c.Provisioner, was.Provisioner},
		{"reclaimPolicy", c.ReclaimPolicy, was.ReclaimPolicy},
	} {
		if !apiequality.Semantic.DeepEqual(f.now, f.was) {
			errs = append(errs, field.Forbidden(field.NewPath(f.name), "cannot be changed: delete the class and create it anew"))
		}
	}
	errs = append(errs, apivalidation.ValidateImmutableField(c.VolumeBindingMode, was.VolumeBindingMode, field.NewPath("volumeBindingMode"))...)
	return append(errs, validateTopologies(c.AllowedTopologies, field.NewPath("allowedTopologies"))...)
}
