package registry

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

func TestLeases(t *testing.T) {
	lease := func(s coordinationv1.LeaseSpec) *coordinationv1.Lease { return &coordinationv1.Lease{Spec: s} }
	runObjectCases(t, Lease(), map[string]objectCase{
		"a lease may be free":         {obj: lease(coordinationv1.LeaseSpec{})},
		"a lease lasts a while":       {obj: lease(coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To[int32](0)}), want: []string{"spec.leaseDurationSeconds Invalid"}},
		"a lease moved some times":    {obj: lease(coordinationv1.LeaseSpec{LeaseTransitions: ptr.To[int32](-1)}), want: []string{"spec.leaseTransitions Invalid"}},
		"election is not coordinated": {obj: lease(coordinationv1.LeaseSpec{Strategy: ptr.To(coordinationv1.OldestEmulationVersion)}), want: []string{"spec.strategy Forbidden"}},
		"a preference needs a rule":   {obj: lease(coordinationv1.LeaseSpec{PreferredHolder: ptr.To("a")}), want: []string{"spec.preferredHolder Forbidden"}},
	})
}
