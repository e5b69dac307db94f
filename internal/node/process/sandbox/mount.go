package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// composition mounts the volumes of one container in a new mount namespace.
type composition struct {
	mounts  []runtime.Mount
	sources trees
	stage   string
	user    *runtime.User
	// inPlace is whether the root file system is the container's own, so that mount points are made in it.
	inPlace bool
	volumes []*volume
	shadows []*overlayDir
	// missing are mount points whose shadows keep the container's user from writing where it otherwise could.
	missing []runtime.MissingMountPoint
}

// compose mounts volumes in the calling thread's mount namespace, which must be the container's own. It returns the missing
// mount points that keep the container's user from writing where it otherwise could.
func compose(mounts []runtime.Mount, user *runtime.User, stage string) ([]runtime.MissingMountPoint, error) {
	c, err := newComposition(mounts)
	defer c.close()
	if err != nil {
		return nil, err
	}
	c.stage, c.user = stage, user
	if err := c.mountAll(); err != nil {
		return nil, err
	}
	return c.missing, c.seal()
}

// newComposition opens the sources of the mounts. The thread must see the file system that they are in.
func newComposition(mounts []runtime.Mount) (*composition, error) {
	mounts = slices.Clone(mounts)
	slices.SortStableFunc(mounts, func(a, b runtime.Mount) int {
		return cmp.Compare(strings.Count(filepath.Clean(a.ContainerPath), "/"),
			strings.Count(filepath.Clean(b.ContainerPath), "/"))
	})
	sources, err := cloneSources(mounts)
	return &composition{mounts: mounts, sources: sources}, err
}

// mountAll mounts all volumes in the mount namespace that the thread is in now.
func (c *composition) mountAll() error {
	for i, m := range c.mounts {
		if err := c.mount(c.sources[i], m); err != nil {
			return fmt.Errorf("mount a volume at %s: %w", m.ContainerPath, err)
		}
	}
	return nil
}

func (c *composition) close() {
	c.sources.close()
	for _, s := range c.shadows {
		unix.Close(s.fd)
	}
}

// seal makes the shadows read-only, because what a container wrote there would be lost.
func (c *composition) seal() error {
	for _, s := range c.shadows {
		if err := makeReadOnly(s.fd, false); err != nil {
			return fmt.Errorf("make the private copy of %s read-only: %w", s.path, err)
		}
	}
	return nil
}

func cloneSources(mounts []runtime.Mount) (trees, error) {
	var sources trees
	for _, m := range mounts {
		t, err := cloneSource(m)
		if err != nil {
			return sources, fmt.Errorf("volume source %s: %w", m.HostPath, err)
		}
		sources = append(sources, t)
		if !m.ReadOnly {
			continue
		}
		if err := makeReadOnly(t.fd, m.RecursiveReadOnly); err != nil {
			return sources, fmt.Errorf("make volume source %s read-only: %w", m.HostPath, err)
		}
	}
	return sources, nil
}

// cloneSource copies the source of m as a detached mount. It copies from the descriptor where the walk to the subPath
// ends, so a pod gains nothing by replacing directories with links meanwhile.
func cloneSource(m runtime.Mount) (tree, error) {
	w, err := walkFrom(m.HostPath)
	if err != nil {
		return tree{}, err
	}
	defer w.close()
	w.volume = &volume{}
	err = w.to(m.SubPath, func(name string, _ bool) error { return makeAt(w.here().fd, name, true) })
	if errors.Is(err, errLeadsOut) {
		return tree{}, fmt.Errorf("subPath %q %w", m.SubPath, err)
	}
	if err != nil {
		return tree{}, fmt.Errorf("subPath %q: %w", m.SubPath, err)
	}
	return w.here().clone()
}

// canMountReadOnly reports whether makeReadOnly can be recursive.
func canMountReadOnly() bool {
	return unix.MountSetattr(-1, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}) == unix.EBADF
}

func makeReadOnly(mount int, recursive bool) error {
	flags := uint(unix.AT_EMPTY_PATH)
	if recursive {
		flags |= unix.AT_RECURSIVE
	}
	err := unix.MountSetattr(mount, "", flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if err != unix.ENOSYS {
		return err
	}
	// Before Linux 5.12 only attached mounts can be changed.
	return unix.Mount("", fmt.Sprintf("/proc/thread-self/fd/%d", mount), "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
}

// point is a mount point in a container.
type point struct {
	path  string
	isDir bool
}

func (c *composition) mount(source tree, m runtime.Mount) error {
	if !filepath.IsAbs(m.ContainerPath) {
		return errors.New("the mount path must be absolute")
	}
	var stat unix.Stat_t
	if err := unix.Fstat(source.fd, &stat); err != nil {
		return err
	}
	p := point{path: filepath.Clean(m.ContainerPath), isDir: stat.Mode&unix.S_IFMT == unix.S_IFDIR}
	w, err := walkFrom("/")
	if err != nil {
		return err
	}
	defer w.close()
	w.volumes = c.volumes
	err = w.to(p.path, func(name string, last bool) error {
		if err := c.makeWritable(w, p); err != nil {
			return err
		}
		return makeAt(w.here().fd, name, p.isDir || !last)
	})
	switch {
	case errors.Is(err, errLeadsOut):
		return fmt.Errorf("a symbolic link in it %w in which it lies", err)
	case err != nil:
		return err
	case w.atStart():
		return errors.New("a volume cannot be mounted at the root directory")
	case w.here().isDir() != p.isDir:
		return fmt.Errorf("one of the volume and %s is a directory and the other is not", w.path())
	}
	if err := source.attach(w.here().fd, ""); err != nil {
		return err
	}
	c.volumes = append(c.volumes, &volume{path: w.path(), readOnly: m.ReadOnly})
	return nil
}

// makeWritable ensures that an element of p can be made where the walk is now without changing the machine's directories:
// in a writable volume it can be made as Kubernetes does, elsewhere the directory is shadowed.
func (c *composition) makeWritable(w *pathWalk, p point) error {
	if c.inPlace {
		return nil
	}
	s := c.shadowOf(w.here())
	if s == nil && w.volume != nil && !w.volume.readOnly {
		return nil
	}
	if s == nil {
		var err error
		if s, err = c.shadow(w); err != nil {
			return err
		}
	}
	missing := runtime.MissingMountPoint{Path: p.path, Dir: s.path, IsFile: !p.isDir}
	if s.wasWritable && !slices.Contains(c.missing, missing) {
		c.missing = append(c.missing, missing)
	}
	return nil
}

func (c *composition) shadowOf(p *place) *overlayDir {
	for _, s := range c.shadows {
		if s.device == p.stat.Dev {
			return s
		}
	}
	return nil
}

// shadow mounts a shadow over the directory where the walk is now.
func (c *composition) shadow(w *pathWalk) (*overlayDir, error) {
	deprives := w.volume == nil && mayWrite(w.here(), c.user)
	s, err := newShadow(w.here(), w.path(), c.stage)
	if err != nil {
		return nil, err
	}
	s.wasWritable = deprives
	c.shadows = append(c.shadows, s)
	return s, w.replace(s.fd)
}

// mayWrite reports whether the container's user could make files in a directory of the machine.
func mayWrite(dir *place, user *runtime.User) bool {
	if user == nil || user.UID == 0 {
		return unix.Faccessat(dir.fd, ".", unix.W_OK, unix.AT_EACCESS) == nil
	}
	mode := dir.stat.Mode
	switch {
	case user.UID == dir.stat.Uid:
		return mode&0o200 != 0
	case user.GID == dir.stat.Gid, slices.Contains(user.Groups, dir.stat.Gid):
		return mode&0o020 != 0
	}
	return mode&0o002 != 0
}
