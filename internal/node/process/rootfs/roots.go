package rootfs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/userns"
)

// Roots makes root file systems.
type Roots struct {
	overlays *overlays
	// template is the mount namespace from which those of containers are copied. It has an empty directory, where the root is
	// mounted, and the mounts that are made once for all containers.
	template *os.File
	devices  devices
}

// Directories of the template.
const (
	templateRoot    = "/root"
	templateSys     = "/sys"
	templateDevices = "/devices"
	templateProc    = "/proc"
)

// ShowsProc reports whether the machine's /proc is mounted in the /dev of a container until its first process has mounted its own: in a user
// namespace the kernel allows that only to a process that sees a complete /proc. It is the same for all containers of this process.
var ShowsProc = sync.OnceValue(func() bool { return !userns.Initial() })

// Open finds out whether root file systems can be made here. What containers write is kept below dir. It mounts at stage, an
// empty directory. The calling thread must see the machine's file system, and is left in another mount namespace.
func Open(dir, stage string) (*Roots, error) {
	r := &Roots{}
	var err error
	if r.overlays, err = openOverlays(dir, stage); err != nil {
		return nil, err
	}
	if err = r.openTemplate(stage); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Roots) openTemplate(stage string) (err error) {
	if err = unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare the mount namespace: %w", err)
	}
	if err = unix.Mount("stint", stage, "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("mount a tmpfs: %w", err)
	}
	for _, name := range []string{templateRoot, templateSys, templateDevices, templateProc} {
		if err = os.Mkdir(filepath.Join(stage, name), 0o755); err != nil {
			return err
		}
	}
	if r.devices, err = openDevices(filepath.Join(stage, templateDevices)); err != nil {
		return err
	}
	if err = mountSys(filepath.Join(stage, templateSys)); err != nil {
		return fmt.Errorf("mount /sys: %w", err)
	}
	if ShowsProc() {
		if err = unix.Mount("/proc", filepath.Join(stage, templateProc), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("show /proc: %w", err)
		}
	}
	namespace, err := os.Open("/proc/thread-self/ns/mnt")
	if err != nil {
		return err
	}
	r.template = namespace
	return pivotTo(stage)
}

// pivotTo makes a mounted directory the root of the thread's mount namespace.
func pivotTo(path string) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return Pivot(fd)
}

// Pivot makes newRoot the root of the thread's mount namespace and unmounts the old one.
func Pivot(newRoot int) error {
	if err := unix.Fchdir(newRoot); err != nil {
		return err
	}
	// This mounts the old root over the new one, from where it is unmounted.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root directory: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the former root directory: %w", err)
	}
	return unix.Chdir("/")
}

// Root is the root file system of one container.
type Root struct {
	overlay *overlay
	fd      int
	points  *Points
}

// Points are descriptors of directories and a file in a root file system, as it was before anything that containers can write to was mounted
// in it: its root directory, /dev and its null device, and the mount points for /proc and cgroups.
type Points struct {
	Root, Dev, Null, Proc int
	// Cgroup is -1 on a machine without cgroups.
	Cgroup int
}

// Points returns the descriptors, which are open until Leave.
func (root *Root) Points() *Points { return root.points }

func (p *Points) close() {
	for _, fd := range []int{p.Dev, p.Null, p.Proc, p.Cgroup} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// Enter moves the thread into a new mount namespace, whose root has the files of tree, the directory of an image. Files,
// by path and content, are mounted over the image's. The caller gives the Root back when the container has ended, also if
// Enter returns an error with it. Only containers of the same owner get it again.
func (r *Roots) Enter(tree string, owner string, files map[string]string) (*Root, error) {
	o, err := r.overlays.take(tree, owner)
	if err != nil {
		return nil, err
	}
	root := &Root{overlay: o, fd: -1}
	if root.fd, err = o.clone(); err != nil {
		return root, err
	}
	if err := setns(r.template); err != nil {
		return root, err
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return root, err
	}
	return root, r.assemble(root, files)
}

// assemble puts the root file system together and makes it the thread's.
func (r *Roots) assemble(root *Root, files map[string]string) error {
	if err := unix.MoveMount(root.fd, "", unix.AT_FDCWD, templateRoot, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount the image: %w", err)
	}
	dev, err := openPoint(root.fd, "dev")
	if err != nil {
		return err
	}
	defer unix.Close(dev)
	at := &Points{Root: root.fd, Dev: -1, Null: -1, Proc: -1, Cgroup: -1}
	root.points = at
	if at.Dev, err = r.devices.mount(dev); err != nil {
		return fmt.Errorf("make /dev: %w", err)
	}
	if at.Null, err = openNull(at.Dev); err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	for path, content := range files {
		if err := showFile(at.Dev, root.fd, path, content); err != nil {
			return fmt.Errorf("make %s: %w", path, err)
		}
	}
	sys, err := openPoint(root.fd, "sys")
	if err != nil {
		return err
	}
	defer unix.Close(sys)
	at.Cgroup, err = unix.Open(filepath.Join(templateSys, "fs/cgroup"), openMountPoint, 0)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("open /sys/fs/cgroup: %w", err)
	}
	if err := unix.MoveMount(unix.AT_FDCWD, templateSys, sys, "", unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount /sys: %w", err)
	}
	if at.Proc, err = openPoint(root.fd, "proc"); err != nil {
		return err
	}
	if ShowsProc() {
		if err := showProc(at.Dev); err != nil {
			return fmt.Errorf("show /proc: %w", err)
		}
	}
	return Pivot(root.fd)
}

// ProcName is the name of the directory in /dev for the machine's /proc. No pod can know the name, and mount a volume there.
var ProcName = sync.OnceValue(func() string { return ".proc-" + rand.Text() })

func showProc(dev int) error {
	if err := unix.Mkdirat(dev, ProcName(), 0o700); err != nil {
		return err
	}
	return unix.MoveMount(unix.AT_FDCWD, templateProc, dev, ProcName(), 0)
}

const openMountPoint = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// openPoint opens a directory of the image as mount point, and makes it if the image lacks it. A symbolic link in its place
// is an error: the mount would be at another path than programs expect.
func openPoint(root int, name string) (int, error) {
	how := &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV,
	}
	fd, err := unix.Openat2(root, name, how)
	if err == unix.ENOENT {
		if err = unix.Mkdirat(root, name, 0o755); err == nil {
			fd, err = unix.Openat2(root, name, how)
		}
	}
	if filesystem.IsFull(err) {
		return -1, fmt.Errorf("make /%s: %w", name, err)
	}
	if err != nil {
		return -1, &ImageError{fmt.Sprintf("/%s of the image is no directory: %v", name, err)}
	}
	return fd, nil
}

// ImageError is a fault of an image, not of the machine.
type ImageError struct{ Reason string }

func (e *ImageError) Error() string { return e.Reason }

// Seal makes the root file system read-only, except volumes. The thread must be in the namespace of root.
func (root *Root) Seal() error {
	return unix.MountSetattr(root.fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// OpenWritten opens the directory that holds what the container has written. The Root must not have been given back.
func (root *Root) OpenWritten() (*os.File, error) {
	upper := root.overlay.upper
	fd, err := unix.Openat(int(upper.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: upper.Name(), Err: err}
	}
	return os.NewFile(uintptr(fd), upper.Name()), nil
}

// Leave closes what is needed only until the container's process was started or could not be.
func (root *Root) Leave() {
	if root == nil {
		return
	}
	if root.points != nil {
		root.points.close()
		root.points = nil
	}
	if root.fd >= 0 {
		unix.Close(root.fd)
		root.fd = -1
	}
}

// GiveBack takes back the root of a container that has ended. Clean is whether none of its processes and mounts is left.
func (r *Roots) GiveBack(root *Root, clean bool) {
	root.Leave()
	r.overlays.giveBack(root.overlay, clean)
}

// Discard removes a root that no other container may use. It moves the thread to another mount namespace.
func (r *Roots) Discard(root *Root) {
	root.Leave()
	if setns(r.overlays.namespace) == nil {
		r.overlays.drop(root.overlay)
	}
}

// Close frees everything and removes what containers have written.
func (r *Roots) Close() {
	r.overlays.close()
	if r.template != nil {
		r.template.Close()
	}
}

func setns(to *os.File) error { return unix.Setns(int(to.Fd()), unix.CLONE_NEWNS) }
