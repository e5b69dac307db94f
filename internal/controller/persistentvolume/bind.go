package persistentvolume

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	storagevolume "k8s.io/component-helpers/storage/volume"

	core "github.com/stint-dev/stint/internal/persistentvolume"
)

// isComplete reports whether the claim and the volume are bound to each other, and both say so.
func isComplete(c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) bool {
	return namesClaim(v, c) && v.Status.Phase == corev1.VolumeBound &&
		c.Spec.VolumeName == v.Name && core.IsBound(c) && hasStatus(c, core.ClaimStatus(c, corev1.ClaimBound, v))
}

// namesClaim reports whether the volume names this claim, and not only one of its name.
func namesClaim(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	return storagevolume.IsVolumeBoundToClaim(v, c) && v.Spec.ClaimRef.UID == c.UID
}

// bind writes what is missing of a binding.
func (b *Controller) bind(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) error {
	return b.busy.with(v.Name, func() (err error) {
		if core.IsUnfinished(v, c) { // It may have been removed since it was cached.
			if v, err = b.volumes.Get(ctx, "", v.Name); err != nil {
				return err
			}
		}
		return b.complete(ctx, c, v)
	})
}

// complete is bind for a volume that no other sync works on.
func (b *Controller) complete(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) (err error) {
	if v, err = b.bindVolume(ctx, c, v); err != nil {
		return fmt.Errorf("binding volume %s: %w", v.Name, err)
	}
	if core.IsUnfinished(v, c) {
		if err := b.makeDirectory(ctx, c, v); err != nil {
			return err
		}
	}
	if err = b.storeBound(ctx, c, v); err != nil {
		return fmt.Errorf("storing the status of volume %s: %w", v.Name, err)
	}
	if c, err = b.bindClaim(ctx, c, v); err != nil {
		return wrap("binding", c, err)
	}
	_, err = b.storeStatus(ctx, c, corev1.ClaimBound, v)
	return err
}

// bindVolume makes the volume name the claim, unless its newest version names another.
func (b *Controller) bindVolume(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) (*corev1.PersistentVolume, error) {
	if changed, err := core.BindVolume(v.DeepCopy(), c); err != nil || !changed {
		return v, err
	}
	var taken error
	bound, err := b.volumes.Modify(ctx, v, func(v *corev1.PersistentVolume) { _, taken = core.BindVolume(v, c) })
	if err == nil {
		err = taken
	}
	if err != nil {
		return v, err
	}
	return bound, nil
}

// makeDirectory makes the directory of a volume that nothing has used yet. The volume exists before, so that no directory is
// ever without one.
func (b *Controller) makeDirectory(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) error {
	err := core.ErrNoNode
	if b.provisioner != nil {
		err = b.provisioner.Make(ctx, v.Name)
	}
	if err != nil {
		b.tell(c, core.ProvisioningFailed(err.Error()))
		return fmt.Errorf("making volume %s: %w", v.Name, err)
	}
	b.tell(c, core.ProvisioningSucceeded(v))
	return nil
}

// storeBound stores the phase Bound of a volume, if it still names the claim.
func (b *Controller) storeBound(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) error {
	d := core.VolumeDecision{Phase: corev1.VolumeBound}
	if !d.Changes(v) {
		return nil
	}
	named := false
	_, err := b.volumes.ModifyStatus(ctx, v, func(v *corev1.PersistentVolume) {
		if named = v.Spec.ClaimRef != nil && namesClaim(v, c); named {
			d.Store(v)
		}
	})
	if err == nil && !named {
		return core.ErrTaken
	}
	return err
}

func (b *Controller) bindClaim(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) (*corev1.PersistentVolumeClaim, error) {
	if changed, err := core.BindClaim(c.DeepCopy(), v); err != nil || !changed {
		return c, err
	}
	var taken error
	bound, err := b.claims.Modify(ctx, c, func(c *corev1.PersistentVolumeClaim) { _, taken = core.BindClaim(c, v) })
	if err == nil {
		err = taken
	}
	if err != nil {
		return c, err
	}
	return bound, nil
}

// provision makes a volume for a claim and binds it.
func (b *Controller) provision(ctx context.Context, c *corev1.PersistentVolumeClaim, class core.Class) error {
	name := core.VolumeName(c)
	return b.busy.with(name, func() error {
		v := core.NewVolume(c, class, core.Place{Path: b.provisioner.Path(name), Node: b.provisioner.NodeName()})
		made, err := b.volumes.Create(ctx, v)
		if apierrors.IsAlreadyExists(err) {
			made, err = b.volumes.Get(ctx, "", name)
		}
		if err != nil {
			b.tell(c, core.ProvisioningFailed(err.Error()))
			return fmt.Errorf("creating volume %s: %w", name, err)
		}
		return b.complete(ctx, c, made)
	})
}
