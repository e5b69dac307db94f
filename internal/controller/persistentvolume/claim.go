package persistentvolume

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

// syncClaim decides on the cached state and, if there is anything to do, again on the live state.
func (b *Controller) syncClaim(ctx context.Context, key types.NamespacedName) error {
	cached := loop.Cached[*corev1.PersistentVolumeClaim](b.claims.Informer(), key)
	if cached == nil {
		return nil
	}
	o, err := b.observeClaim(ctx, cached, b.cachedVolume)
	if err != nil {
		return err
	}
	if d := b.choices.decide(cached.UID, b.decision(&o)); !b.hasWork(&o, d) {
		return nil
	}
	live, err := b.claims.Get(ctx, key.Namespace, key.Name)
	if err != nil {
		return err
	}
	if o, err = b.observeClaim(ctx, live, b.liveVolume); err != nil {
		return err
	}
	d := b.choices.choose(live.UID, b.decision(&o))
	if err = b.apply(ctx, &o, d); err != nil && d.Action == core.Bind {
		b.choices.drop(d.Volume.Name)
		b.queuePending(o.Class.Name, freedDelay)
	}
	return err
}

type getVolume func(ctx context.Context, name string) (*corev1.PersistentVolume, error)

func (b *Controller) observeClaim(ctx context.Context, c *corev1.PersistentVolumeClaim, get getVolume) (o core.ClaimObservation, err error) {
	o = core.ClaimObservation{Claim: c, CanProvision: b.provisioner != nil, Node: b.node()}
	if c.Spec.VolumeName != "" {
		o.Volume, err = get(ctx, c.Spec.VolumeName)
		return o, err
	}
	if core.IsBound(c) || c.DeletionTimestamp != nil {
		return o, nil
	}
	o.HasConsumer = b.users.Any(c, core.IsConsumer)
	if o.Class, err = b.class(ctx, storagevolume.GetPersistentVolumeClaimClass(c)); err != nil {
		return o, err
	}
	if o.Class.Name == "" {
		o.DefaultClass = b.defaultClass()
	}
	o.Candidates = append(found[*corev1.PersistentVolume](b.volumes.Informer(), volumesByClaim, loop.Key(c).String()),
		found[*corev1.PersistentVolume](b.volumes.Informer(), availableByClass, o.Class.Name)...)
	return o, nil
}

// class returns a class; one that is not cached is read live.
func (b *Controller) class(ctx context.Context, name string) (core.Class, error) {
	class := core.Class{Name: name, ServedAsLocal: b.local.Has(name)}
	if name == "" {
		return class, nil
	}
	var err error
	class.Object, err = cachedOrLive(ctx, b.classes, name)
	return class, err
}

func (b *Controller) defaultClass() string {
	var all []*storagev1.StorageClass
	for _, obj := range b.classes.Informer().GetStore().List() {
		all = append(all, obj.(*storagev1.StorageClass))
	}
	return core.DefaultClass(all)
}

func (b *Controller) node() *corev1.Node {
	if b.provisioner == nil {
		return nil
	}
	return loop.Cached[*corev1.Node](b.nodes.Informer(), cache.ObjectName{Name: b.provisioner.NodeName()})
}

// decision returns a function that decides about a claim that may get the volumes that are free.
func (b *Controller) decision(o *core.ClaimObservation) func(isFree func(volume string) bool) core.ClaimDecision {
	return func(isFree func(volume string) bool) core.ClaimDecision {
		o.Candidates = slices.DeleteFunc(o.Candidates, func(v *corev1.PersistentVolume) bool { return !isFree(v.Name) })
		return core.DecideClaim(*o)
	}
}

// hasWork reports whether the decision, or its event, is not yet carried out.
func (b *Controller) hasWork(o *core.ClaimObservation, d core.ClaimDecision) bool {
	c := o.Claim
	switch d.Action {
	case core.Ignore:
		return false
	case core.Bind:
		return !isComplete(c, d.Volume)
	case core.Wait:
		return !hasStatus(c, core.ClaimStatus(c, corev1.ClaimPending, nil)) || !namesProvisioner(c, d.Provisioner) || b.told.isNew(c.UID, d.Event)
	case core.Lose:
		return !hasStatus(c, core.ClaimStatus(c, corev1.ClaimLost, nil))
	}
	return true
}

func hasStatus(c *corev1.PersistentVolumeClaim, want corev1.PersistentVolumeClaimStatus) bool {
	return equality.Semantic.DeepEqual(c.Status, want)
}

func (b *Controller) apply(ctx context.Context, o *core.ClaimObservation, d core.ClaimDecision) error {
	c := o.Claim
	switch d.Action {
	case core.Wait:
		return b.wait(ctx, c, d)
	case core.SetClass:
		_, err := b.claims.Modify(ctx, c, func(c *corev1.PersistentVolumeClaim) {
			if !storagevolume.PersistentVolumeClaimHasClass(c) {
				c.Spec.StorageClassName = &d.Class
			}
		})
		return wrap("giving the default class to", c, err)
	case core.Lose:
		changed, err := b.storeStatus(ctx, c, corev1.ClaimLost, nil)
		if changed {
			b.tell(c, d.Event)
		}
		return err
	case core.Bind:
		return b.bind(ctx, c, d.Volume)
	case core.Provision:
		return b.provision(ctx, c, o.Class)
	}
	return nil
}

// namesProvisioner reports whether the claim names the program that is to make its volume, if there is one.
func namesProvisioner(c *corev1.PersistentVolumeClaim, provisioner string) bool {
	return provisioner == "" || provisioner == c.Annotations[storagevolume.AnnStorageProvisioner]
}

func (b *Controller) wait(ctx context.Context, c *corev1.PersistentVolumeClaim, d core.ClaimDecision) (err error) {
	if !namesProvisioner(c, d.Provisioner) {
		if c, err = b.claims.Modify(ctx, c, func(c *corev1.PersistentVolumeClaim) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, storagevolume.AnnStorageProvisioner, d.Provisioner)
		}); err != nil {
			return wrap("naming the provisioner of", c, err)
		}
	}
	b.tell(c, d.Event)
	_, err = b.storeStatus(ctx, c, corev1.ClaimPending, nil)
	return err
}

// storeStatus stores the status of a claim in this phase, and reports whether that changed it.
func (b *Controller) storeStatus(ctx context.Context, c *corev1.PersistentVolumeClaim, phase corev1.PersistentVolumeClaimPhase, v *corev1.PersistentVolume) (changed bool, err error) {
	if hasStatus(c, core.ClaimStatus(c, phase, v)) {
		return false, nil
	}
	_, err = b.claims.ModifyStatus(ctx, c, func(c *corev1.PersistentVolumeClaim) {
		want := core.ClaimStatus(c, phase, v)
		changed = !hasStatus(c, want)
		c.Status = want
	})
	return changed && err == nil, wrap("storing the status of", c, err)
}

// tell records an event about a claim, unless it was the last one.
func (b *Controller) tell(c *corev1.PersistentVolumeClaim, e core.Event) {
	if b.told.isNew(c.UID, e) {
		b.told.set(c.UID, e)
		b.recorder.Event(c, e.Type, e.Reason, e.Message)
	}
}

func wrap(doing string, c *corev1.PersistentVolumeClaim, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s claim %s: %w", doing, loop.Key(c), err)
}
