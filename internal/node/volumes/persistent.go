package volumes

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/persistentvolume"
)

// isReadOnlyClaim reports whether the pod mounts a claim for reading only.
func isReadOnlyClaim(v *corev1.Volume) bool {
	return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ReadOnly
}

// persistent returns where the PersistentVolume of a claim is.
func (m Maker) persistent(ctx context.Context, pod Pod, v *corev1.Volume, readOnly bool) (runtime.Mount, error) {
	pv, err := m.Claims.Volume(ctx, pod.Pod, v)
	if err != nil {
		return runtime.Mount{}, err
	}
	switch {
	case persistentvolume.IsLocal(pv):
		dir := m.Local.Path(pv.Name)
		if err := isDirectory(dir); err != nil {
			return runtime.Mount{}, err
		}
		return runtime.Mount{HostPath: dir}, pod.shareOnce(ctx, v, dir)
	case pv.Spec.Local != nil:
		// The user's own directory: it is not given to the pod's group.
		return runtime.Mount{HostPath: pv.Spec.Local.Path}, isDirectory(pv.Spec.Local.Path)
	case pv.Spec.HostPath != nil:
		return m.hostPath(pod, v, pv.Spec.HostPath, readOnly)
	}
	return runtime.Mount{}, fmt.Errorf("persistentvolume %q: this kind of volume is not supported; use hostPath or local", pv.Name)
}

func isDirectory(path string) error {
	switch info, err := os.Stat(path); {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", path)
	}
	return nil
}

// shareOnce gives a persistent volume to the pod's fsGroup. A directory in place of the volume, which the pod does not see,
// remembers that this was done for the pod.
func (p Pod) shareOnce(ctx context.Context, v *corev1.Volume, dir string) error {
	group, shared := p.group()
	if !shared || isDirectory(p.Path(v)) == nil {
		return nil
	}
	policy := ptr.Deref(p.Spec.SecurityContext.FSGroupChangePolicy, corev1.FSGroupChangeAlways)
	share := beneath.Share{Group: group, Write: true, OnMismatch: policy == corev1.FSGroupChangeOnRootMismatch}
	if err := p.Share(ctx, dir, share); err != nil {
		return err
	}
	return makeVolume(p.Path(v))
}
