package sandbox

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// enter moves the thread into a mount namespace for the rest of the task.
func (t *thread) enter(ns *os.File) error {
	t.addUndo(func() error { return setns(t.sandbox.views.base, unix.CLONE_NEWNS) })
	return setns(ns, unix.CLONE_NEWNS)
}

// enterView moves the thread into the container's mount namespace, if it needs one. Seen is whether the termination message
// file is at its path there.
func (l *launch) enterView(t *thread) (seen bool, err error) {
	c, v := l.container, l.sandbox.views
	switch {
	case !v.usable():
		return false, nil
	case len(volumes(c.Mounts)) > 0, c.TerminationMessagePath != "" && c.TerminationMessagePath != defaultMessagePath:
		return true, l.enterOwn(t)
	case c.TerminationMessagePath == "":
		return false, nil
	}
	return true, l.enterSlot(t)
}

// enterOwn makes a mount namespace for this container alone.
func (l *launch) enterOwn(t *thread) error {
	c, v := l.container, l.sandbox.views
	if err := t.enter(v.volumes); err != nil {
		return err
	}
	if err := l.sandbox.mountMemory(c.PodUID, c.Mounts); err != nil {
		return faultOf(err)
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	mounts := volumes(c.Mounts)
	if c.TerminationMessagePath != "" {
		mounts = append(mounts, runtime.Mount{HostPath: l.slot.message.path, ContainerPath: c.TerminationMessagePath})
	}
	var err error
	if l.missing, err = compose(mounts, l.owner(), v.stage()); err != nil {
		return faultOf(err)
	}
	return nil
}
