// Package check has checks of single fields that several kinds need. Each check returns an error for an invalid value,
// whose message says which values are valid.
package check

import (
	"fmt"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// Label requires a DNS label.
func Label(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return Invalid(p, name, validation.IsDNS1123Label(name))
}

// Subdomain requires a DNS subdomain, as the names of most objects are.
func Subdomain(name string, p *field.Path) field.ErrorList {
	return Invalid(p, name, apivalidation.NameIsDNSSubdomain(name, false))
}

// Invalid returns an error for each fault of v.
func Invalid(p *field.Path, v any, faults []string) field.ErrorList {
	var errs field.ErrorList
	for _, fault := range faults {
		errs = append(errs, field.Invalid(p, v, fault))
	}
	return errs
}

// Among requires that v is set and is one of the known values.
func Among[T ~string](v T, p *field.Path, known ...T) field.ErrorList {
	if v == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return Supported(v, p, known...)
}

// Supported requires that v is one of the known values.
func Supported[T ~string](v T, p *field.Path, known ...T) field.ErrorList {
	if slices.Contains(known, v) {
		return nil
	}
	return field.ErrorList{field.NotSupported(p, v, known)}
}

// OneOf is like Among, but also names the known values if the value is not set.
func OneOf[T ~string](value T, p *field.Path, known ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(p, fmt.Sprintf("must be one of %q", known))}
	}
	return Supported(value, p, known...)
}

// AtLeastZero requires that a number is not negative, if it is set.
func AtLeastZero[T int32 | int64](value *T, p *field.Path) field.ErrorList {
	return apivalidation.ValidateNonnegativeField(int64(ptr.Deref(value, 0)), p)
}
