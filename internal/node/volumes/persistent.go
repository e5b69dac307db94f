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
	// A directory in place of the volume, which the pod does not see, remembers that the pod uses the claim.
	used := isDirectory(pod.Path(v)) == nil
	pv, err := m.Claims.Volume(ctx, pod.Pod, v, used)
	if err != nil {
		return runtime.Mount{}, err
	}
	mount, err := m.mountOf(pod, v, pv, readOnly)
	if err == nil && persistentvolume.IsLocal(pv) && !used {
		err = m.share(ctx, pod, v.Name, mount.HostPath)
	}
	if err != nil {
		return runtime.Mount{}, err
	}
	return mount, makeVolume(pod.Path(v))
}

func (m Maker) mountOf(pod Pod, v *corev1.Volume, pv *corev1.PersistentVolume, readOnly bool) (runtime.Mount, error) {
	switch {
	case persistentvolume.IsLocal(pv):
		dir, err := m.Local.Find(pv.Name)
		return runtime.Mount{HostPath: dir}, err
	case pv.Spec.Local != nil:
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

// share gives a persistent volume to the pod's fsGroup.
func (m Maker) share(ctx context.Context, pod Pod, volume, dir string) error {
	group, shared := pod.group()
	if !shared {
		return nil
	}
	policy := ptr.Deref(pod.Spec.SecurityContext.FSGroupChangePolicy, corev1.FSGroupChangeAlways)
	share := beneath.Share{Group: group, Write: true, OnMismatch: policy == corev1.FSGroupChangeOnRootMismatch}
	return m.Shares.share(ctx, pod.UID, volume, func(ctx context.Context) error { return pod.Share(ctx, dir, share) })
}
