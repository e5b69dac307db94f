package volumes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/localvolume"
	"github.com/stint-dev/stint/internal/node/claims"
	"github.com/stint-dev/stint/internal/node/config"
	"github.com/stint-dev/stint/internal/node/downward"
	"github.com/stint-dev/stint/internal/node/env"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Maker makes volumes.
type Maker struct {
	Configs config.Reader
	Claims  claims.Reader
	Facts   downward.Facts
	// Local has the directories of provisioned PersistentVolumes.
	Local localvolume.Dir
	// Shares gives persistent volumes to the fsGroups of pods.
	Shares *Shares
}

// Pod is a pod and the folder that holds its volumes.
type Pod struct {
	*corev1.Pod
	Dir string
	// Share gives a directory and all in it to a group, which is numbered as in the pod's containers. It is nil if the pod
	// has no fsGroup, or the group cannot be set or does not matter.
	Share func(ctx context.Context, dir string, share beneath.Share) error
}

// Mounts makes the volumes that the container mounts, and returns its mounts. Lookup returns variables of the
// container's environment, for subPathExpr.
func (m Maker) Mounts(ctx context.Context, pod Pod, c *corev1.Container, lookup func(string) (string, bool)) ([]runtime.Mount, error) {
	if len(c.VolumeMounts) == 0 {
		return nil, nil
	}
	byName := byName(pod.Pod)
	mounts := make([]runtime.Mount, 0, len(c.VolumeMounts))
	for _, vm := range c.VolumeMounts {
		v := byName[vm.Name]
		if v == nil {
			return nil, fmt.Errorf("volume %q: the pod has no volume of this name", vm.Name)
		}
		mount, err := m.prepare(ctx, pod, v, vm.ReadOnly)
		if err != nil {
			return nil, fmt.Errorf("volume %q: %w", v.Name, err)
		}
		mount.ContainerPath = containerPath(vm.MountPath)
		mount.ReadOnly = vm.ReadOnly || showsObjects(v) || isReadOnlyClaim(v)
		mount.RecursiveReadOnly = ptr.Deref(vm.RecursiveReadOnly, corev1.RecursiveReadOnlyDisabled) != corev1.RecursiveReadOnlyDisabled
		sub := vm.SubPath
		if vm.SubPathExpr != "" {
			sub = env.Expand(vm.SubPathExpr, lookup)
		}
		if sub != "" {
			if !filepath.IsLocal(sub) {
				return nil, fmt.Errorf("volume %q: subPath %q must be a relative path inside the volume", v.Name, sub)
			}
			mount.SubPath = filepath.Clean(sub)
		}
		mounts = append(mounts, mount)
	}
	return mounts, nil
}

// Update rewrites those volumes of the pod that show API objects and have been made.
func (m Maker) Update(ctx context.Context, pod Pod) error {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if !showsObjects(v) {
			continue
		}
		if _, err := os.Stat(pod.Path(v)); err != nil {
			continue
		}
		if _, err := m.prepare(ctx, pod, v, true); err != nil {
			return fmt.Errorf("update volume %q: %w", v.Name, err)
		}
	}
	return nil
}

// prepare makes the volume, or updates it. ReadOnly is whether the container mounts it read-only.
func (m Maker) prepare(ctx context.Context, pod Pod, v *corev1.Volume, readOnly bool) (runtime.Mount, error) {
	mount := runtime.Mount{HostPath: pod.Path(v)}
	switch {
	case v.PersistentVolumeClaim != nil, v.Ephemeral != nil:
		return m.persistent(ctx, pod, v, readOnly)
	case v.EmptyDir != nil:
		if v.EmptyDir.Medium == corev1.StorageMediumMemory {
			mount.Tmpfs = true
			if v.EmptyDir.SizeLimit != nil {
				mount.SizeBytes = v.EmptyDir.SizeLimit.Value()
			}
			mount.Group, _ = pod.group()
			return mount, makeVolume(mount.HostPath)
		}
		return mount, makeEmptyDir(mount.HostPath, pod.groupSetter(ctx))
	case v.HostPath != nil:
		return m.hostPath(pod, v, v.HostPath, readOnly)
	}
	files, err := m.files(ctx, pod.Pod, v)
	if err != nil {
		return mount, err
	}
	return mount, write(ctx, mount.HostPath, files, pod.groupSetter(ctx))
}

// hostPath checks a path of the machine, or makes it if its type says so.
func (m Maker) hostPath(pod Pod, v *corev1.Volume, h *corev1.HostPathVolumeSource, readOnly bool) (runtime.Mount, error) {
	if readOnly && isMissing(h) {
		empty := pod.Path(v)
		return runtime.Mount{HostPath: empty}, makeVolume(empty)
	}
	return runtime.Mount{HostPath: h.Path}, ensureHostPath(h)
}

func showsObjects(v *corev1.Volume) bool {
	return v.ConfigMap != nil || v.Secret != nil || v.DownwardAPI != nil || v.Projected != nil
}

// Path returns where a volume of the pod is.
func (p Pod) Path(v *corev1.Volume) string { return filepath.Join(p.Dir, v.Name) }

// group returns the fsGroup that volumes are given to, if they are given to one.
func (p Pod) group() (group uint32, shared bool) {
	if p.Share == nil || p.Spec.SecurityContext == nil || p.Spec.SecurityContext.FSGroup == nil {
		return 0, false
	}
	return uint32(*p.Spec.SecurityContext.FSGroup), true
}

// groupSetter returns the function that gives a directory to the pod's fsGroup; nil if there is none.
func (p Pod) groupSetter(ctx context.Context) groupSetter {
	group, shared := p.group()
	if !shared {
		return nil
	}
	return func(dir string) error { return p.Share(ctx, dir, beneath.Share{Group: group}) }
}

// groupSetter gives a directory and all in it to a group.
type groupSetter func(dir string) error

// containerPath makes a mount path absolute as a container runtime does: relative to the root.
func containerPath(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join("/", path)
}
