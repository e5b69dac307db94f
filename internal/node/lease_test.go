package node_test

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
)

func TestTheNodeHasALease(t *testing.T) {
	h := newTestNode(t, newScripted())
	h.startNode(nil)
	var lease *coordinationv1.Lease
	h.eventually("the lease is there", func() (ok bool) {
		var err error
		lease, err = h.client.Leases().Get(t.Context(), corev1.NamespaceNodeLease, "here")
		return err == nil
	}, func() any { return nil })
	if holder := lease.Spec.HolderIdentity; holder == nil || *holder != "here" || lease.Spec.RenewTime == nil {
		t.Errorf("the lease is %+v", lease.Spec)
	}
}
