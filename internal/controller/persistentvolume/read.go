package persistentvolume

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
)

// cachedOrLive returns a cached object or, as the informer may be behind, the live one; nil if it does not exist.
func cachedOrLive[T loop.Object](ctx context.Context, r client.Resource[T], name string) (T, error) {
	if cached := loop.Cached[T](r.Informer(), cache.ObjectName{Name: name}); *new(T) != cached {
		return cached, nil
	}
	return live(ctx, r, "", name)
}

// live returns the live object, nil if it does not exist.
func live[T loop.Object](ctx context.Context, r client.Resource[T], namespace, name string) (none T, err error) {
	o, err := r.Get(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		return none, nil
	}
	return o, err
}

func (b *Controller) cachedVolume(ctx context.Context, name string) (*corev1.PersistentVolume, error) {
	return cachedOrLive(ctx, b.volumes, name)
}

func (b *Controller) liveVolume(ctx context.Context, name string) (*corev1.PersistentVolume, error) {
	return live(ctx, b.volumes, "", name)
}

// cachedClaim returns the claim that a volume names with its UID. If the cached one is another, it is read live.
func (b *Controller) cachedClaim(ctx context.Context, v *corev1.PersistentVolume) (*corev1.PersistentVolumeClaim, error) {
	ref := v.Spec.ClaimRef
	if ref == nil || ref.UID == "" {
		return nil, nil
	}
	if c := loop.Cached[*corev1.PersistentVolumeClaim](b.claims.Informer(), claimKey(ref)); c != nil && c.UID == ref.UID {
		return c, nil
	}
	return b.liveClaim(ctx, ref)
}

// liveClaim returns the claim of a reference with a UID, nil if it does not exist.
func (b *Controller) liveClaim(ctx context.Context, ref *corev1.ObjectReference) (*corev1.PersistentVolumeClaim, error) {
	if ref == nil || ref.UID == "" {
		return nil, nil
	}
	c, err := live(ctx, b.claims, ref.Namespace, ref.Name)
	if err != nil || c == nil || c.UID != ref.UID {
		return nil, err
	}
	return c, nil
}
