package persistentvolume

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

// syncVolume decides on the cached state and, if there is anything to do, again on the live state.
func (b *Controller) syncVolume(ctx context.Context, key types.NamespacedName) error {
	cached := loop.Cached[*corev1.PersistentVolume](b.volumes.Informer(), cache.ObjectName{Name: key.Name})
	if cached == nil {
		return nil
	}
	claim, err := b.cachedClaim(ctx, cached)
	if err != nil {
		return err
	}
	if !b.decideVolume(cached, claim).Changes(cached) {
		return nil
	}
	return b.busy.with(key.Name, func() error { return b.settle(ctx, cached) })
}

func (b *Controller) decideVolume(v *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) core.VolumeDecision {
	return core.DecideVolume(core.VolumeObservation{Volume: v, Claim: claim, CanRemove: b.provisioner != nil})
}

// settle reads the claim and then the volume live, and applies the decision. The volume comes last: its newest reclaim policy
// counts, and a claim that is gone does not come back.
func (b *Controller) settle(ctx context.Context, cached *corev1.PersistentVolume) error {
	claim, err := b.liveClaim(ctx, cached.Spec.ClaimRef)
	if err != nil {
		return err
	}
	v, err := b.volumes.Get(ctx, "", cached.Name)
	if err != nil {
		return err
	}
	if !equality.Semantic.DeepEqual(v.Spec.ClaimRef, cached.Spec.ClaimRef) {
		return core.ErrTaken
	}
	return b.applyVolume(ctx, v, b.decideVolume(v, claim))
}

func (b *Controller) applyVolume(ctx context.Context, v *corev1.PersistentVolume, d core.VolumeDecision) (err error) {
	if d.Unbind {
		if v, err = b.unbind(ctx, v); err != nil {
			return fmt.Errorf("unbinding volume %s: %w", v.Name, err)
		}
	}
	if err = b.storePhase(ctx, v, d); err != nil {
		return err
	}
	switch {
	case d.Reclaim:
		return b.reclaim(ctx, v)
	case d.LetGo:
		_, err = b.letGo(ctx, v)
	}
	return err
}

func (b *Controller) unbind(ctx context.Context, v *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	ref, taken := v.Spec.ClaimRef, false
	free, err := b.volumes.Modify(ctx, v, func(v *corev1.PersistentVolume) {
		if taken = !equality.Semantic.DeepEqual(v.Spec.ClaimRef, ref); !taken {
			core.UnbindVolume(v)
		}
	})
	if err == nil && taken {
		err = core.ErrTaken
	}
	if err != nil {
		return v, err
	}
	return free, nil
}

// storePhase stores the phase of a volume, if it still names the same claim, and then records the event.
func (b *Controller) storePhase(ctx context.Context, v *corev1.PersistentVolume, d core.VolumeDecision) error {
	if !(core.VolumeDecision{Phase: d.Phase, Reason: d.Reason, Message: d.Message}).Changes(v) {
		return nil
	}
	ref, taken, changed := v.Spec.ClaimRef, false, false
	_, err := b.volumes.ModifyStatus(ctx, v, func(v *corev1.PersistentVolume) {
		if taken = !equality.Semantic.DeepEqual(v.Spec.ClaimRef, ref); !taken {
			changed = d.Store(v)
		}
	})
	switch {
	case err != nil:
		return fmt.Errorf("storing the status of volume %s: %w", v.Name, err)
	case taken:
		return core.ErrTaken
	case changed && d.Event != core.Event{}:
		b.recorder.Event(v, d.Event.Type, d.Event.Reason, d.Event.Message)
	}
	return nil
}

// reclaim removes the data of a volume whose claim is gone, and then the volume.
func (b *Controller) reclaim(ctx context.Context, v *corev1.PersistentVolume) error {
	if err := b.provisioner.Remove(ctx, v.Name); err != nil {
		if ctx.Err() == nil {
			_ = b.storePhase(ctx, v, core.FailedDelete(err.Error())) // The removal is retried in any case.
		}
		return fmt.Errorf("removing volume %s: %w", v.Name, err)
	}
	v, err := b.letGo(ctx, v)
	if err != nil {
		return err
	}
	if err := b.volumes.Delete(ctx, v, client.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting volume %s: %w", v.Name, err)
	}
	return nil
}

// letGo removes the finalizer of a local volume.
func (b *Controller) letGo(ctx context.Context, v *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	isOurs := func(f string) bool { return f == core.LocalVolumeFinalizer }
	if !slices.ContainsFunc(v.Finalizers, isOurs) {
		return v, nil
	}
	freed, err := b.volumes.Modify(ctx, v, func(v *corev1.PersistentVolume) { v.Finalizers = slices.DeleteFunc(v.Finalizers, isOurs) })
	if err != nil {
		return v, fmt.Errorf("removing the finalizer of volume %s: %w", v.Name, err)
	}
	return freed, nil
}
