package store

import (
	"context"
	"fmt"
	"net/http"

	"go.etcd.io/etcd/client/v3/kubernetes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultQuota is the default of the quota in bytes.
const DefaultQuota = 8 << 30

// ReasonFull is the reason of the error with which a full store refuses writes.
const ReasonFull metav1.StatusReason = "InsufficientStorage"

// quota limits the used part of the database. The last eighth is reserved for updates, because objects with finalizers
// and running pods are updated before they are deleted: a full store must not refuse that. Half of the reserve is open to
// objects that expire, which are Events: they say why other objects are not created. etcd's own quota would refuse every
// write except deletions, and would count free pages.
type quota struct {
	kubernetes.Interface
	bytes int64
	used  func() int64
}

// OptimisticPut implements kubernetes.Interface.
func (q *quota) OptimisticPut(ctx context.Context, key string, value []byte, expected int64, o kubernetes.PutOptions) (kubernetes.PutResponse, error) {
	creates, expires := expected == 0, o.LeaseID != 0
	if q.used() < q.limit(creates, expires) {
		return q.Interface.OptimisticPut(ctx, key, value, expected, o)
	}
	return refuse(ctx, q.Interface, key, creates, q.exceeded())
}

// refuse returns what is returned for a write that is refused.
func refuse(ctx context.Context, store kubernetes.Interface, key string, creates bool, refusal error) (kubernetes.PutResponse, error) {
	if creates {
		// An object that exists needs no room. A server that starts creates what it needs, and must be told so.
		if there, err := store.Get(ctx, key, kubernetes.GetOptions{}); err != nil || there.KV != nil {
			return kubernetes.PutResponse{KV: there.KV, Revision: there.Revision}, err
		}
	}
	return kubernetes.PutResponse{}, refusal
}

// limit is the size from which on a write is refused.
func (q *quota) limit(creates, expires bool) int64 {
	switch {
	case !creates:
		return q.bytes
	case expires:
		return q.bytes - q.bytes/16
	default:
		return q.bytes - q.bytes/8
	}
}

// full reports whether objects that do not expire are refused.
func (q *quota) full() bool { return q.used() >= q.limit(true, false) }

func (q *quota) exceeded() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure,
		Code:   http.StatusInsufficientStorage,
		Reason: ReasonFull,
		Message: fmt.Sprintf("the store is full: it takes %d of %d MiB; delete objects and wait half a minute, or restart the server with a larger --quota-backend-bytes",
			q.used()>>20, q.bytes>>20),
	}}
}
