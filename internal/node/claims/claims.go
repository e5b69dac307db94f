// Package claims says what the PersistentVolumeClaims of a pod lack, and which volumes they are bound to.
package claims

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-helpers/storage/ephemeral"
	storage "k8s.io/component-helpers/storage/volume"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/persistentvolume"
)

// Reader reads claims and volumes.
type Reader struct {
	Client client.Interface
	// Node is the name of the node.
	Node string
}

// Unmet returns why the pod cannot start, as far as the informers know, and the ReadWriteOncePod claims that it needs for
// itself, as NAMESPACE/NAME. The message is empty if all its claims are bound to volumes of this node.
func (r Reader) Unmet(pod *corev1.Pod) (message string, exclusive []string) {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		name := persistentvolume.ClaimOf(pod, v)
		if name == "" {
			continue
		}
		key := pod.Namespace + "/" + name
		claim := cached[*corev1.PersistentVolumeClaim](r.Client.PersistentVolumeClaims().Informer(), key)
		if err := r.check(pod, v, claim); err != nil && message == "" {
			message = err.Error()
		}
		if claim != nil && slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod) {
			exclusive = append(exclusive, key)
		}
	}
	return message, exclusive
}

func (r Reader) check(pod *corev1.Pod, v *corev1.Volume, claim *corev1.PersistentVolumeClaim) error {
	if err := checkClaim(pod, v, claim, false); err != nil {
		return err
	}
	return r.checkVolume(claim, cached[*corev1.PersistentVolume](r.Client.PersistentVolumes().Informer(), claim.Spec.VolumeName))
}

// Volume reads the volume of a pod's claim from the API server, not from the informers. A claim that the pod uses already
// may be in deletion: it stays until the pod has ended.
func (r Reader) Volume(ctx context.Context, pod *corev1.Pod, v *corev1.Volume, used bool) (*corev1.PersistentVolume, error) {
	claim, err := existing(r.Client.PersistentVolumeClaims().Get(ctx, pod.Namespace, persistentvolume.ClaimOf(pod, v)))
	if err != nil {
		return nil, err
	}
	if err := checkClaim(pod, v, claim, used); err != nil {
		return nil, err
	}
	pv, err := existing(r.Client.PersistentVolumes().Get(ctx, "", claim.Spec.VolumeName))
	if err != nil {
		return nil, err
	}
	return pv, r.checkVolume(claim, pv)
}

func cached[T any](informer cache.SharedIndexInformer, key string) (object T) {
	if obj, found, err := informer.GetStore().GetByKey(key); err == nil && found {
		object, _ = obj.(T)
	}
	return object
}

// existing returns nil, and no error, for an object that is not there.
func existing[T client.Object](obj T, err error) (T, error) {
	if apierrors.IsNotFound(err) {
		var none T
		return none, nil
	}
	return obj, err
}

// errUnbound has the words of Kubernetes' scheduler, as the other messages do.
var errUnbound = errors.New("pod has unbound immediate PersistentVolumeClaims")

// checkClaim returns why the claim of a volume, nil if there is none, cannot be used yet. Used is whether the pod uses it
// already.
func checkClaim(pod *corev1.Pod, v *corev1.Volume, claim *corev1.PersistentVolumeClaim, used bool) error {
	name := persistentvolume.ClaimOf(pod, v)
	switch {
	case claim == nil && v.Ephemeral != nil:
		return fmt.Errorf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", name)
	case claim == nil:
		return fmt.Errorf("persistentvolumeclaim %q not found", name)
	case claim.Status.Phase == corev1.ClaimLost:
		return lost(claim)
	case claim.DeletionTimestamp != nil && !used:
		return fmt.Errorf("persistentvolumeclaim %q is being deleted", name)
	case v.Ephemeral != nil && ephemeral.VolumeIsForPod(pod, claim) != nil:
		return ephemeral.VolumeIsForPod(pod, claim)
	case claim.Spec.VolumeName == "" || !persistentvolume.IsBound(claim):
		return errUnbound
	}
	return nil
}

func lost(claim *corev1.PersistentVolumeClaim) error {
	return fmt.Errorf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", claim.Name, claim.Spec.VolumeName)
}

// checkVolume returns why the volume of a bound claim, nil if there is none, cannot be used on this node.
func (r Reader) checkVolume(claim *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) error {
	switch {
	case pv == nil:
		return lost(claim)
	case pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID != claim.UID || !storage.IsVolumeBoundToClaim(pv, claim):
		return fmt.Errorf("persistentvolumeclaim %q names persistentvolume %q, which is not bound to it", claim.Name, pv.Name)
	}
	node := cached[*corev1.Node](r.Client.Nodes().Informer(), r.Node)
	if node == nil {
		return nil // The node is about to be registered again; its labels are not known.
	}
	if storage.CheckNodeAffinity(pv, node.Labels) != nil {
		return fmt.Errorf("node(s) didn't match PersistentVolume's node affinity: persistentvolume %q cannot be reached from this node", pv.Name)
	}
	return nil
}
