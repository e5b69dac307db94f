package persistentvolume

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/stint-dev/stint/internal/controller/claimusers"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

const (
	// volumesByClaim are the volumes that name a claim, availableByClass those that any claim of their class may have.
	volumesByClaim, availableByClass = "volumesByClaim", "availableByClass"
	// claimsByVolume are the claims that name a volume, pendingByClass those that have never been bound.
	claimsByVolume, pendingByClass = "claimsByVolume", "pendingByClass"
)

func (b *Controller) index(pods cache.SharedIndexInformer) {
	users, err := claimusers.Of(pods)
	b.users = users
	b.loop.FailStart(err)
	b.loop.FailStart(b.volumes.Informer().AddIndexers(cache.Indexers{
		volumesByClaim: keys(func(v *corev1.PersistentVolume) (string, bool) {
			if v.Spec.ClaimRef == nil {
				return "", false
			}
			return claimKey(v.Spec.ClaimRef).String(), true
		}),
		availableByClass: keys(func(v *corev1.PersistentVolume) (string, bool) {
			return storagevolume.GetPersistentVolumeClass(v), core.IsAvailable(v)
		}),
	}))
	b.loop.FailStart(b.claims.Informer().AddIndexers(cache.Indexers{
		claimsByVolume: keys(func(c *corev1.PersistentVolumeClaim) (string, bool) {
			return c.Spec.VolumeName, c.Spec.VolumeName != ""
		}),
		pendingByClass: keys(func(c *corev1.PersistentVolumeClaim) (string, bool) {
			return storagevolume.GetPersistentVolumeClaimClass(c), !core.IsBound(c)
		}),
	}))
}

// keys returns an index function by which an object has one key or none.
func keys[T any](key func(T) (string, bool)) cache.IndexFunc {
	return func(obj any) ([]string, error) {
		if o, ok := obj.(T); ok {
			if k, ok := key(o); ok {
				return []string{k}, nil
			}
		}
		return nil, nil
	}
}

func found[T any](in cache.SharedIndexInformer, index, key string) (all []T) {
	objects, _ := in.GetIndexer().ByIndex(index, key) // It fails only without the index, and then nothing runs.
	for _, obj := range objects {
		all = append(all, obj.(T))
	}
	return all
}

func claimKey(ref *corev1.ObjectReference) types.NamespacedName {
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

func volumeKey(name string) types.NamespacedName { return types.NamespacedName{Name: name} }
