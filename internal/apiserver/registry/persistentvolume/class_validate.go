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
	if policy := ptr.Deref(c.ReclaimPolicy, ""); policy != "" {
		errs = append(errs, check.Supported(policy, field.NewPath("reclaimPolicy"), corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain)...)
	}
	errs = append(errs, check.Supported(ptr.Deref(c.VolumeBindingMode, ""), field.NewPath("volumeBindingMode"),
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
		if slices.ContainsFunc(terms[:i], func(earlier corev1.TopologySelectorTerm) bool { return sameTopology(earlier, term) }) {
			errs = append(errs, field.Duplicate(p.Index(i).Child("matchLabelExpressions"), ""))
		}
		if len(term.MatchLabelExpressions) == 0 {
			errs = append(errs, field.Required(p.Index(i).Child("matchLabelExpressions"), "must be set"))
		}
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

// sameTopology reports whether two terms match the same labels, in whatever order they are written.
func sameTopology(a, b corev1.TopologySelectorTerm) bool {
	return apiequality.Semantic.DeepEqual(valuesByKey(a), valuesByKey(b))
}

func valuesByKey(term corev1.TopologySelectorTerm) map[string]sets.Set[string] {
	values := map[string]sets.Set[string]{}
	for _, e := range term.MatchLabelExpressions {
		values[e.Key] = sets.New(e.Values...)
	}
	return values
}

// validateClassUpdate refuses changes to what volumes were provisioned with.
func validateClassUpdate(c, was *storagev1.StorageClass) field.ErrorList {
	errs := validateClass(c)
	for _, f := range []struct {
		name     string
		now, was any
	}{
		{"parameters", c.Parameters, was.Parameters}, {"provisioner", c.Provisioner, was.Provisioner},
		{"reclaimPolicy", c.ReclaimPolicy, was.ReclaimPolicy}, {"volumeBindingMode", c.VolumeBindingMode, was.VolumeBindingMode},
	} {
		errs = append(errs, apivalidation.ValidateImmutableField(f.now, f.was, field.NewPath(f.name))...)
	}
	return errs
}
