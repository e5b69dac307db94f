package persistentvolume

import (
	"cmp"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/stint-dev/stint/internal/controller/loop"
	core "github.com/stint-dev/stint/internal/persistentvolume"
)

// freedDelay is after which time claims are looked at again that may have waited for a volume that was chosen for another. The
// one that could not be bound to it is retried sooner, and without the delay two such claims would wake each other without end.
const freedDelay = time.Second

func (b *Controller) watch(pods cache.SharedIndexInformer) {
	b.loop.Watch(b.claims.Informer(), loop.Handler(b.claimChanged))
	b.loop.Watch(b.volumes.Informer(), loop.Handler(b.volumeChanged))
	b.loop.Watch(b.classes.Informer(), loop.Handler(b.classChanged))
	b.loop.Watch(pods, loop.Handler(b.podChanged))
	b.loop.Watch(b.nodes.Informer(), loop.Handler(b.nodeChanged))
}

func (b *Controller) claimChanged(was, is *corev1.PersistentVolumeClaim) {
	c := cmp.Or(is, was)
	if is == nil {
		b.told.forget(was.UID)
	} else {
		b.loop.Queue.Add(loop.Key(is))
	}
	if c.Spec.VolumeName != "" {
		b.loop.Queue.Add(volumeKey(c.Spec.VolumeName))
	}
	for _, v := range found[*corev1.PersistentVolume](b.volumes.Informer(), volumesByClaim, loop.Key(c).String()) {
		b.loop.Queue.Add(loop.Key(v))
	}
}

func (b *Controller) volumeChanged(was, is *corev1.PersistentVolume) {
	v := cmp.Or(is, was)
	if is != nil {
		b.loop.Queue.Add(loop.Key(is))
	}
	b.choices.drop(v.Name)
	for _, seen := range []*corev1.PersistentVolume{was, is} {
		if seen != nil && seen.Spec.ClaimRef != nil {
			b.loop.Queue.Add(claimKey(seen.Spec.ClaimRef))
		}
	}
	for _, c := range found[*corev1.PersistentVolumeClaim](b.claims.Informer(), claimsByVolume, v.Name) {
		b.loop.Queue.Add(loop.Key(c))
	}
	if is != nil && core.IsAvailable(is) && (was == nil || !core.IsAvailable(was)) {
		b.queuePending(storagevolume.GetPersistentVolumeClass(is), 0)
	}
}

// classChanged looks again at the pending claims of a class and, if it is or was the default, at those without a class.
func (b *Controller) classChanged(was, is *storagev1.StorageClass) {
	b.queuePending(cmp.Or(is, was).Name, 0)
	if is != nil && core.IsDefault(is) {
		b.queuePending("", 0)
	}
}

// podChanged looks again at the claims of a pod once it is a consumer. Most pods have no claims.
func (b *Controller) podChanged(was, is *corev1.Pod) {
	if is == nil || len(is.Spec.Volumes) == 0 || !core.IsConsumer(is) || was != nil && core.IsConsumer(was) {
		return
	}
	for _, name := range core.ClaimsOf(is) {
		b.loop.Queue.Add(types.NamespacedName{Namespace: is.Namespace, Name: name})
	}
}

// nodeChanged looks again at all pending claims when the labels of the node have changed, by which volumes choose their nodes.
func (b *Controller) nodeChanged(was, is *corev1.Node) {
	if is == nil || b.provisioner == nil || is.Name != b.provisioner.NodeName() || was != nil && maps.Equal(was.Labels, is.Labels) {
		return
	}
	for _, class := range b.claims.Informer().GetIndexer().ListIndexFuncValues(pendingByClass) {
		b.queuePending(class, 0)
	}
}

// queuePending looks again at the pending claims of a class after a delay.
func (b *Controller) queuePending(class string, delay time.Duration) {
	for _, c := range found[*corev1.PersistentVolumeClaim](b.claims.Informer(), pendingByClass, class) {
		b.loop.Queue.AddAfter(loop.Key(c), delay)
	}
}
