package registry

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// Lease describes Leases, which are used for leader election and for heartbeats of nodes.
func Lease() kinds.Resource {
	return kinds.Resource{
		Version:  coordinationv1.SchemeGroupVersion,
		Kind:     "Lease",
		Plural:   "leases",
		Singular: "lease",
		New:      func() runtime.Object { return &coordinationv1.Lease{} },
		NewList:  func() runtime.Object { return &coordinationv1.LeaseList{} },
		Validate: func(_ context.Context, obj runtime.Object) field.ErrorList {
			return validateLease(&obj.(*coordinationv1.Lease).Spec)
		},
		ValidateUpdate: func(_ context.Context, obj, _ runtime.Object) field.ErrorList {
			return validateLease(&obj.(*coordinationv1.Lease).Spec)
		},
		Columns: []metav1.TableColumnDefinition{
			kinds.NameColumn,
			{Name: "Holder", Type: "string", Description: coordinationv1.LeaseSpec{}.SwaggerDoc()["holderIdentity"]},
			kinds.AgeColumn,
		},
		Row: func(obj runtime.Object, now time.Time) []any {
			l := obj.(*coordinationv1.Lease)
			return []any{l.Name, ptr.Deref(l.Spec.HolderIdentity, ""), kinds.Age(l.CreationTimestamp, now)}
		},
	}
}

func validateLease(s *coordinationv1.LeaseSpec) field.ErrorList {
	p := field.NewPath("spec")
	var errs field.ErrorList
	if d := s.LeaseDurationSeconds; d != nil && *d <= 0 {
		errs = append(errs, field.Invalid(p.Child("leaseDurationSeconds"), *d, "must be greater than 0"))
	}
	if n := s.LeaseTransitions; n != nil {
		errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*n), p.Child("leaseTransitions"))...)
	}
	if s.PreferredHolder != nil && *s.PreferredHolder != "" && s.Strategy == nil {
		errs = append(errs, field.Forbidden(p.Child("preferredHolder"), "may only be specified if `strategy` is defined"))
	}
	if s.Strategy != nil {
		errs = append(errs, field.Forbidden(p.Child("strategy"), "coordinated leader election is not served: remove it"))
	}
	return errs
}
