package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// composition puts the volumes of one container into a fresh mount namespace.
type composition struct {
	stage   string
	mounted []runtime.Mount
	// shadows holds the devices of the tmpfs that stand in for directories of the machine.
	shadows map[uint64]bool
}

// compose shows mounts in the calling thread's mount namespace, which must be the container's own.
func compose(mounts []runtime.Mount, stage string) error {
	mounts = slices.Clone(mounts)
	slices.SortStableFunc(mounts, func(a, b runtime.Mount) int {
		return cmp.Compare(strings.Count(filepath.Clean(a.ContainerPath), "/"),
			strings.Count(filepath.Clean(b.ContainerPath), "/"))
	})
	sources, err := cloneSources(mounts)
	defer sources.close()
	if err != nil {
		return err
	}
	c := &composition{stage: stage, shadows: map[uint64]bool{}}
	for i, m := range mounts {
		if err := c.mount(sources[i], m); err != nil {
			return fmt.Errorf("mount a volume at %s: %w", m.ContainerPath, err)
		}
	}
	return nil
}

func cloneSources(mounts []runtime.Mount) (trees, error) {
	var sources trees
	for _, m := range mounts {
		t, err := cloneTree(m.HostPath)
		if err != nil {
			return sources, fmt.Errorf("volume source %s: %w", m.HostPath, err)
		}
		sources = append(sources, t)
		if !m.ReadOnly {
			continue
		}
		attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
		if err := unix.MountSetattr(t.fd, "", unix.AT_EMPTY_PATH, attr); err != nil {
			return sources, fmt.Errorf("make volume source %s read-only: %w", m.HostPath, err)
		}
	}
	return sources, nil
}

func (c *composition) mount(source tree, m runtime.Mount) error {
	var stat unix.Stat_t
	if err := unix.Fstat(source.fd, &stat); err != nil {
		return err
	}
	isDir := stat.Mode&unix.S_IFMT == unix.S_IFDIR
	point, err := c.mountPoint(m.ContainerPath, isDir)
	if err != nil {
		return err
	}
	if err := source.attach(point); err != nil {
		return err
	}
	m.ContainerPath = point
	c.mounted = append(c.mounted, m)
	return nil
}

// mountPoint returns the place that path names, all symbolic links followed, and makes it if need be.
func (c *composition) mountPoint(path string, isDir bool) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("the mount path must be absolute")
	}
	parent, missing, err := nearest(filepath.Clean(path))
	if err != nil {
		return "", err
	}
	if missing == "" {
		return parent, sameKind(parent, isDir)
	}
	if err := c.makeWritable(parent); err != nil {
		return "", err
	}
	point := filepath.Join(parent, missing)
	if isDir {
		return point, os.MkdirAll(point, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(point), 0o755); err != nil {
		return "", err
	}
	return point, makeFile(point)
}

// nearest splits path into the longest part that exists, resolved, and the rest.
func nearest(path string) (parent, missing string, err error) {
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return real, missing, nil
		}
		if !os.IsNotExist(err) || path == "/" {
			return "", "", err
		}
		if _, err := os.Lstat(path); err == nil {
			return "", "", fmt.Errorf("%s is a symbolic link to nothing", path)
		}
		missing = filepath.Join(filepath.Base(path), missing)
		path = filepath.Dir(path)
	}
}

func sameKind(path string, isDir bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() != isDir {
		return fmt.Errorf("one of the volume and %s is a directory and the other is not", path)
	}
	return nil
}

// makeWritable sees to it that entries can be made in dir without touching the machine's own directories: in a
// volume that may be written they are made as Kubernetes would, elsewhere dir is shadowed.
func (c *composition) makeWritable(dir string) error {
	device, err := deviceOf(dir)
	if err != nil {
		return err
	}
	if c.shadows[device] {
		return nil
	}
	if volume := c.volumeOf(dir); volume != nil && !volume.ReadOnly {
		return nil
	}
	if err := shadow(dir, c.stage); err != nil {
		return err
	}
	if device, err = deviceOf(dir); err != nil {
		return err
	}
	c.shadows[device] = true
	return nil
}

// volumeOf returns the volume that dir lies in.
func (c *composition) volumeOf(dir string) *runtime.Mount {
	for i := len(c.mounted) - 1; i >= 0; i-- {
		if within(dir, c.mounted[i].ContainerPath) {
			return &c.mounted[i]
		}
	}
	return nil
}

func deviceOf(path string) (uint64, error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return uint64(stat.Dev), nil
}
