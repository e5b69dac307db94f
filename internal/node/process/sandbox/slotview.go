package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// slotView is a mount namespace that one container after another uses, each with its own termination message file.
type slotView struct {
	ns *os.File
	// mounts is a descriptor of mountinfo, which poll reports when mounts have changed. It is not an os.File, because the
	// poller of the Go runtime would consume these reports.
	mounts int
}

// enterSlot moves the thread into the slot's mount namespace, with the message file in its default place.
func (l *launch) enterSlot(t *thread) error {
	s := l.slot
	if s.view == nil {
		return l.enterNew(t)
	}
	if err := t.enter(s.view.ns); err != nil {
		return err
	}
	if s.message.shown {
		// In this order: what still holds the file could change it after a look at it.
		if isIdle(defaultMessagePath) && s.message.isUnchanged() {
			return nil
		}
		if err := l.sandbox.newMessage(s, l.owner()); err != nil {
			return err
		}
	}
	// With MNT_DETACH, because otherwise this fails while a process has the file open.
	if err := unix.Unmount(defaultMessagePath, unix.MNT_DETACH); err != nil {
		return err
	}
	return s.showMessage()
}

// isIdle reports whether the mount at path can be written to and no process uses it, not even by a descriptor.
func isIdle(path string) bool {
	// The access takes back the mark that a former call has set: with the mark, MNT_EXPIRE unmounts.
	if unix.Access(path, unix.W_OK) != nil {
		return false
	}
	return unix.Unmount(path, unix.MNT_EXPIRE) == unix.EAGAIN
}

func (l *launch) enterNew(t *thread) error {
	t.addUndo(func() error { return setns(t.sandbox.views.base, unix.CLONE_NEWNS) })
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	var err error
	if l.slot.view, err = openSlotView(); err != nil {
		return err
	}
	return l.slot.showMessage()
}

func openSlotView() (*slotView, error) {
	ns, err := os.Open("/proc/thread-self/ns/mnt")
	if err != nil {
		return nil, err
	}
	mounts, err := unix.Open("/proc/thread-self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		ns.Close()
		return nil, err
	}
	return &slotView{ns: ns, mounts: mounts}, nil
}

func (s *slot) showMessage() error {
	if err := unix.Mount(s.message.path, defaultMessagePath, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	s.message.shown = true
	s.view.changed() // consumes the report of this mount
	return nil
}

// changed reports whether anything was mounted or unmounted since the last call.
func (v *slotView) changed() bool {
	if v == nil {
		return false
	}
	events := []unix.PollFd{{Fd: int32(v.mounts), Events: unix.POLLPRI}}
	for {
		n, err := unix.Poll(events, 0)
		if err != unix.EINTR {
			return n != 0 || err != nil
		}
	}
}

func (v *slotView) close() {
	if v != nil {
		v.ns.Close()
		unix.Close(v.mounts)
	}
}
