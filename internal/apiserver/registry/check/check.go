// Package check has the checks of single fields that several kinds need. Each returns what is wrong with a value, and
// says what would be right.
package check

import (
	"fmt"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// Label wants a name to be there and to be a DNS label.
func Label(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return Invalid(p, name, validation.IsDNS1123Label(name))
}

// Subdomain wants a DNS subdomain, which most names of objects are.
func Subdomain(name string, p *field.Path) field.ErrorList {
	return Invalid(p, name, apivalidation.NameIsDNSSubdomain(name, false))
}

// Invalid reports what is wrong with v, each fault by itself.
func Invalid(p *field.Path, v any, faults []string) field.ErrorList {
	var errs field.ErrorList
	for _, fault := range faults {
		errs = append(errs, field.Invalid(p, v, fault))
	}
	return errs
}

// Among wants v to be set, to one of the known values.
func Among[T ~string](v T, p *field.Path, known ...T) field.ErrorList {
	if v == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return Supported(v, p, known...)
}

// Supported wants v to be one of the known values.
func Supported[T ~string](v T, p *field.Path, known ...T) field.ErrorList {
	if slices.Contains(known, v) {
		return nil
	}
	return field.ErrorList{field.NotSupported(p, v, known)}
}

// OneOf wants one of the known values, and names them where none is given.
func OneOf[T ~string](value T, p *field.Path, known ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(p, fmt.Sprintf("must be one of %q", known))}
	}
	return Supported(value, p, known...)
}

// AtLeastZero wants a number, where there is one, to be zero or more.
func AtLeastZero[T int32 | int64](value *T, p *field.Path) field.ErrorList {
	return apivalidation.ValidateNonnegativeField(int64(ptr.Deref(value, 0)), p)
}
