package registry

import (
	"fmt"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// label wants a name to be there and to be a DNS label.
func label(name string, p *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return invalid(p, name, validation.IsDNS1123Label(name))
}

func subdomain(name string, p *field.Path) field.ErrorList {
	return invalid(p, name, apivalidation.NameIsDNSSubdomain(name, false))
}

// invalid reports what is wrong with v, each fault by itself.
func invalid(p *field.Path, v any, faults []string) field.ErrorList {
	var errs field.ErrorList
	for _, fault := range faults {
		errs = append(errs, field.Invalid(p, v, fault))
	}
	return errs
}

// among wants v to be set, to one of the known values.
func among[T ~string](v T, p *field.Path, known ...T) field.ErrorList {
	if v == "" {
		return field.ErrorList{field.Required(p, "must be set")}
	}
	return supported(v, p, known...)
}

// supported wants v to be one of the known values.
func supported[T ~string](v T, p *field.Path, known ...T) field.ErrorList {
	if slices.Contains(known, v) {
		return nil
	}
	return field.ErrorList{field.NotSupported(p, v, known)}
}

// oneOf wants one of the known values, and names them where none is given.
func oneOf[T ~string](value T, p *field.Path, known ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(p, fmt.Sprintf("must be one of %q", known))}
	}
	return supported(value, p, known...)
}

func atLeastZero[T int32 | int64](value *T, p *field.Path) field.ErrorList {
	return apivalidation.ValidateNonnegativeField(int64(ptr.Deref(value, 0)), p)
}
