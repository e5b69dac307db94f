package sandbox

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// mountMemory mounts the memory volumes of a pod, once, in the mount namespace views.volumes, from which the namespaces of
// its containers are copied. The thread must be in that namespace.
func (b *Sandbox) mountMemory(pod types.UID, mounts []runtime.Mount) error {
	b.tmpfsMu.Lock()
	defer b.tmpfsMu.Unlock()
	for _, m := range mounts {
		if !m.Tmpfs || slices.Contains(b.tmpfs[pod], m.HostPath) {
			continue
		}
		if err := os.MkdirAll(m.HostPath, 0o755); err != nil {
			return err
		}
		options := "mode=0777"
		if m.Group != 0 {
			options = fmt.Sprintf("mode=2777,gid=%d", m.Group)
		}
		if m.SizeBytes > 0 {
			options += fmt.Sprintf(",size=%d", m.SizeBytes)
		}
		if err := unix.Mount("stint", m.HostPath, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
			return fmt.Errorf("mount a memory volume at %s: %w", m.HostPath, err)
		}
		b.tmpfs[pod] = append(b.tmpfs[pod], m.HostPath)
	}
	return nil
}

// RemovePod removes the pid namespace and the memory volumes of a pod, whose containers must have ended.
func (b *Sandbox) RemovePod(pod types.UID) error {
	b.podPIDs.remove(pod)
	b.networks.remove(pod)
	b.tmpfsMu.Lock()
	paths := b.tmpfs[pod]
	delete(b.tmpfs, pod)
	b.tmpfsMu.Unlock()
	if len(paths) == 0 {
		return nil
	}
	return b.jobs.run(func(t *thread) error {
		if err := t.enter(t.sandbox.views.volumes); err != nil {
			return err
		}
		for _, path := range paths {
			if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
				return fmt.Errorf("unmount the memory volume at %s: %w", path, err)
			}
		}
		return nil
	})
}
