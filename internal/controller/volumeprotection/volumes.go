package volumeprotection

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/internal/persistentvolume"
)

// VolumesClient is the part of the API that Volumes uses.
type VolumesClient interface {
	PersistentVolumes() client.Resource[*corev1.PersistentVolume]
}

// Volumes lets volumes go.
type Volumes struct {
	volumes client.Resource[*corev1.PersistentVolume]
	loop    *loop.Loop
}

// NewVolumes watches the volumes of c. The informers may be started after it returns.
func NewVolumes(c VolumesClient) *Volumes {
	p := &Volumes{volumes: c.PersistentVolumes(), loop: loop.New("volume_protection", nil)}
	p.loop.Watch(p.volumes.Informer(), loop.Handler(func(_, is *corev1.PersistentVolume) {
		if is != nil && mayGo(is) {
			p.loop.Queue.Add(loop.Key(is))
		}
	}))
	return p
}

// Run lets volumes go until ctx ends.
func (p *Volumes) Run(ctx context.Context) error { return p.loop.Run(ctx, workers, p.sync) }

func mayGo(v *corev1.PersistentVolume) bool {
	return isHeld(v, persistentvolume.VolumeProtection) && v.Status.Phase != corev1.VolumeBound
}

func (p *Volumes) sync(ctx context.Context, key types.NamespacedName) error {
	v := loop.Cached[*corev1.PersistentVolume](p.volumes.Informer(), cache.ObjectName{Name: key.Name})
	if v == nil || !mayGo(v) {
		return nil
	}
	_, err := p.volumes.Modify(ctx, v, func(v *corev1.PersistentVolume) {
		if mayGo(v) {
			remove(v, persistentvolume.VolumeProtection)
		}
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("removing the finalizer of volume %s: %w", key.Name, err)
	}
	return nil
}
