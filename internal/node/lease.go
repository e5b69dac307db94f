package node

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// leaseDuration is two heartbeats and a minute, so that one may be late.
const leaseDuration = 2*heartbeatEvery + time.Minute

// renewLease creates or renews the node's Lease, which kubectl describe shows.
func (r *registration) renewLease(ctx context.Context) error {
	leases := r.client.Leases()
	lease, err := leases.Get(ctx, corev1.NamespaceNodeLease, r.name)
	if apierrors.IsNotFound(err) {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: r.name, Namespace: corev1.NamespaceNodeLease}}
		r.renew(lease)
		_, err = leases.Create(ctx, lease)
	} else if err == nil {
		_, err = leases.Modify(ctx, lease, r.renew)
	}
	if err != nil {
		return fmt.Errorf("node: renew the lease of %s: %w", r.name, err)
	}
	return nil
}

func (r *registration) renew(lease *coordinationv1.Lease) {
	lease.Spec.HolderIdentity = &r.name
	lease.Spec.LeaseDurationSeconds = ptr.To(int32(leaseDuration / time.Second))
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(now()))
}
