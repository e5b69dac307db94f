package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/userns"
)

// defaultMessagePath is Kubernetes' default of terminationMessagePath, which nearly all containers have.
const defaultMessagePath = "/dev/termination-log"

// views are the mount namespaces from which those of containers are copied.
type views struct {
	stateDir string
	// base has the machine's file system and an empty file at defaultMessagePath; nil if mounting is not possible.
	base *os.File
	// volumes has what base has, and the memory volumes of the pods.
	volumes *os.File
	// names is the machine's uts namespace.
	names     *os.File
	canRename bool
	why       string
}

func (v *views) usable() bool { return v.base != nil }

// openViews moves the calling thread into a mount namespace of its own that will be the base of all others.
func openViews(config Config) *views {
	v := &views{stateDir: config.StateDir, why: config.WhyNoMount}
	v.openNames()
	if v.why != "" {
		return v
	}
	if err := v.openBase(); err != nil {
		v.why = "this machine's kernel does not let this user mount: " + err.Error()
		v.base = nil
	}
	return v
}

func (v *views) openBase() error {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare the mount namespace: %w", err)
	}
	// Later mounts of the machine are seen in containers; mounts made here are not seen on the machine.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := os.MkdirAll(v.stage(), 0o700); err != nil {
		return err
	}
	if err := v.placeMessage(); err != nil {
		return fmt.Errorf("make %s: %w", defaultMessagePath, err)
	}
	base, err := os.Open("/proc/thread-self/ns/mnt")
	if err != nil {
		return err
	}
	if err := v.openVolumes(base); err != nil {
		base.Close()
		return err
	}
	v.base = base
	return nil
}

func (v *views) openVolumes(base *os.File) (err error) {
	if err = unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare the mount namespace: %w", err)
	}
	if v.volumes, err = os.Open("/proc/thread-self/ns/mnt"); err != nil {
		return err
	}
	return setns(base, unix.CLONE_NEWNS)
}

// openNames finds out whether the thread can enter a new uts namespace and return.
func (v *views) openNames() {
	names, err := os.Open("/proc/thread-self/ns/uts")
	if err != nil {
		return
	}
	if unix.Unshare(unix.CLONE_NEWUTS) == nil && setns(names, unix.CLONE_NEWUTS) == nil {
		v.names, v.canRename = names, true
		return
	}
	names.Close()
}

// stage is the directory where a shadow is put together before it is mounted over the directory that it shadows.
func (v *views) stage() string { return filepath.Join(v.stateDir, "stage") }

// placeMessage makes the mount point of the termination message. Root mounts an overlay over /dev: that is one mount, where
// a shadow is a hundred. Device files are never copied up, so writing to them reaches the device.
func (v *views) placeMessage() error {
	if _, err := os.Lstat(defaultMessagePath); err == nil {
		return nil
	}
	if v.overlayDev() != nil {
		if err := shadowDev(v.stage()); err != nil {
			return err
		}
	}
	w, err := walkFrom("/dev")
	if err != nil {
		return err
	}
	defer w.close()
	if err := makeAt(w.here().fd, filepath.Base(defaultMessagePath), false); err != nil {
		return err
	}
	// All containers share this directory, so none may write to it.
	return makeReadOnly(w.here().fd, false)
}

func shadowDev(stage string) error {
	w, err := walkFrom("/dev")
	if err != nil {
		return err
	}
	defer w.close()
	s, err := newShadow(w.here(), "/dev", stage)
	if err != nil {
		return err
	}
	return unix.Close(s.fd)
}

func (v *views) overlayDev() error {
	if os.Geteuid() != 0 || !userns.Initial() {
		return errors.New("device files on an overlay need root of the machine")
	}
	if err := unix.Mount("stint", v.stage(), "tmpfs", 0, "mode=0700"); err != nil {
		return err
	}
	// The overlay keeps the layers after the unmount.
	defer func() { _ = unix.Unmount(v.stage(), unix.MNT_DETACH) }()
	upper, work := filepath.Join(v.stage(), "upper"), filepath.Join(v.stage(), "work")
	if err := errors.Join(os.Mkdir(upper, 0o755), os.Mkdir(work, 0o755)); err != nil {
		return err
	}
	kept, err := cloneSubmounts("/dev")
	if err != nil {
		return err
	}
	defer func() { kept.close() }()
	if t, err := cloneTree("/dev/shm"); err == nil && !kept.has("/dev/shm") {
		// Containers may write to /dev/shm, also where it is not a mount but a directory of /dev.
		kept = append(kept, t)
	}
	options := "lowerdir=/dev,upperdir=" + upper + ",workdir=" + work
	if err := unix.Mount("stint", "/dev", "overlay", 0, options); err != nil {
		return err
	}
	return kept.attach()
}

// join moves the calling thread into base.
func (v *views) join() error {
	if !v.usable() {
		return nil
	}
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return err
	}
	return setns(v.base, unix.CLONE_NEWNS)
}

func setns(to *os.File, kind int) error { return unix.Setns(int(to.Fd()), kind) }
