package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/rootfs"
	"github.com/stint-dev/stint/internal/node/process/stage"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// launch is one attempt to start a container.
type launch struct {
	sandbox   *Sandbox
	container *runtime.Container
	// target is the container whose process ids it shares, or nil.
	target  *Process
	limits  limits
	slot    *slot
	group   *pidsGroup
	legacy  *legacyCgroups
	streams childStreams
	// stdin is the write end of the standard input, or nil. A terminal is both stdin and stdout.
	stdin, stdout, stderr *os.File
	missing               []runtime.MissingMountPoint
	child                 *stage.Child
	path                  string // of the program
	env                   []string
	// root is the root file system of a container from an image, with its volumes; users is the user namespace that it must enter, if any.
	root    *rootfs.Root
	volumes []*volume
	users   *os.File
	cgroups *cgroupView
	// network is the network namespace of the pod, if it has one.
	network *os.File
	// pids is a pidfd of a process whose process ids it shares; 0 if it has its own, or those of this process.
	pids int
	// sharesPod and mounts are those of Process.
	sharesPod bool
	mounts    uint64
	started   time.Time
	// lingers is whether a process is left that could not be reaped.
	lingers bool
}

// Start starts c, which shares the process ids of target unless that is nil. The error is a *StartError if c itself is at fault. A
// process that has not executed its program when ctx is done is killed, and returned as one that was.
func (b *Sandbox) Start(ctx context.Context, c *runtime.Container, target *Process) (*Process, error) {
	l := &launch{sandbox: b, container: c, target: target, limits: b.limitsOf(c)}
	if err := l.refuse(); err != nil {
		return nil, err
	}
	if err := l.joinNetwork(); err != nil {
		return nil, err
	}
	if err := l.openTerminal(); err != nil {
		return nil, err
	}
	starters := b.starters
	if c.NoNewPrivileges && !l.isStaged() {
		starters = b.lockedStarters
	}
	p, err := l.start(starters)
	if err == nil && p == nil {
		p, err = l.join(ctx)
	}
	if err == nil {
		return p, nil
	}
	l.abandon()
	if errors.Is(err, stage.ErrNoExecutables) {
		return nil, &StartError{Reason: err.Error()}
	}
	return nil, err
}

// start forks the first process. Without a Process, it is one to join. The target does not end meanwhile.
func (l *launch) start(starters *starters) (p *Process, err error) {
	if l.target != nil {
		if !l.target.commands.begin() {
			return nil, errNotRunning
		}
		defer l.target.commands.begun()
	}
	l.group, err = starters.run(func(t *thread) (err error) {
		// Only now, on the thread: of thousands of containers that wait for one, few need a slot at a time.
		l.group = t.group
		if err = l.prepare(); err != nil {
			return err
		}
		if l.container.Root != nil {
			return l.forkInRoot(t)
		}
		p, err = l.fork(t)
		return err
	})
	return p, err
}

// openTerminal opens the terminal of a process. It is not done on a thread, where /dev may be a shadow in which the kernel finds
// no terminals.
func (l *launch) openTerminal() error {
	if !l.container.TTY || l.container.Root != nil {
		return nil
	}
	if err := l.streams.openTerminal(l.owner()); err != nil {
		l.streams.close()
		return startErrorf("%v", err)
	}
	return nil
}

// refuse returns an error for what the container asks for and this machine cannot do.
func (l *launch) refuse() error {
	c, info := l.container, l.sandbox.info
	if (c.Stdin || c.TTY) && !info.CanExec {
		return startErrorf("stdin and tty take Linux 5.9 on amd64 or arm64")
	}
	if c.Root != nil {
		return l.refuseImage()
	}
	if len(volumes(c.Mounts)) > 0 && !info.CanMount {
		return startErrorf("volumes cannot be mounted: %s", info.WhyNoMount)
	}
	if c.Hostname != "" && !info.CanSetHostname {
		return startErrorf("the host name %q cannot be set: this user may not make uts namespaces", c.Hostname)
	}
	if c.User != nil && !info.CanSetUser && !l.sandbox.users.isSelf(c.User) {
		return startErrorf("the container cannot run as user %d: only root can start processes of other users",
			c.User.UID)
	}
	return nil
}

// refuseImage is refuse for a container that runs from an image.
func (l *launch) refuseImage() error {
	c, info := l.container, l.sandbox.info
	if !info.CanRunImages {
		return startErrorf("images cannot be run: %s", info.WhyNoImages)
	}
	if (c.Root.HostPID || c.Root.HostIPC) && !info.CanShareNamespaces {
		return startErrorf("hostPID and hostIPC need a server that root of the machine has started")
	}
	if l.target != nil && l.target.root == nil {
		return startErrorf("container %q has no process ids of its own to share", l.target.id.Container)
	}
	return l.sandbox.users.refuse(c.User)
}

// volumes leaves out mounts that would mount a path over itself.
func volumes(mounts []runtime.Mount) []runtime.Mount {
	return slices.DeleteFunc(slices.Clone(mounts), func(m runtime.Mount) bool {
		return m.HostPath == m.ContainerPath && m.SubPath == "" && !m.ReadOnly && !m.Tmpfs
	})
}

// prepare makes what does not depend on the thread: slot, termination message file, limits.
func (l *launch) prepare() (err error) {
	if l.slot, err = l.sandbox.takeSlot(l.limits); err != nil {
		return err
	}
	if l.container.Root != nil {
		if l.users, err = l.sandbox.users.namespaceFor(l.container.User); err != nil {
			return err
		}
	}
	if err = l.makeMessage(); err != nil {
		return fmt.Errorf("make the termination message file: %w", err)
	}
	if l.slot.leaf != nil {
		if err = l.slot.leaf.limitPIDs(l.sandbox.unified, l.limits); err != nil {
			return err
		}
		if err = l.slot.leaf.limitCPU(l.sandbox.unified, l.limits); err != nil {
			return err
		}
	}
	if l.group != nil {
		if err = l.group.limit(l.limits.pids); err != nil {
			return err
		}
	}
	l.legacy, err = l.sandbox.legacy.newCgroups(l.slot.name, l.limits, l.container.Root != nil)
	if err == nil && l.isStaged() {
		err = l.limitMemory()
	}
	return err
}

// isStaged reports whether package stage starts the container.
func (l *launch) isStaged() bool { return l.sandbox.staged || l.container.Root != nil }

// makeMessage makes the termination message file, unless that of a former container will do.
func (l *launch) makeMessage() error {
	if l.inheritsMessage() {
		return nil
	}
	l.slot.dropMessage()
	if l.container.TerminationMessagePath == "" {
		return nil
	}
	return l.sandbox.newMessage(l.slot, l.owner())
}

// inheritsMessage reports whether the termination message file that a former container has left in the slot can be this one's.
func (l *launch) inheritsMessage() bool {
	c := l.container
	return l.slot.message.isFor(l.owner()) && c.Root == nil && c.TerminationMessagePath == defaultMessagePath && len(volumes(c.Mounts)) == 0
}

// owner is the user that the container's files belong to, as this process sees it; nil is the user of this process.
func (l *launch) owner() *runtime.User {
	if user := l.container.User; l.sandbox.info.CanSetUser || l.container.Root != nil && !l.sandbox.users.hasSingleID() {
		return user
	}
	return nil
}

func (l *launch) abandon() {
	l.streams.close()
	closeStreams(l.stdin, l.stdout, l.stderr)
	if l.legacy != nil {
		l.legacy.remove()
	}
	if l.slot != nil {
		l.sandbox.giveBack(l.slot, !l.limits.bounded() && !l.lingers)
	}
	if l.sharesPod {
		l.sandbox.podPIDs.leave(l.container.PodUID)
	}
	l.sandbox.giveBackRoot(l.root, false)
	l.group.giveBack()
}

// fork runs on a thread. It enters what the child is to inherit, and forks. Without a Process, the child is one to join.
func (l *launch) fork(t *thread) (*Process, error) {
	if l.sandbox.staged && l.legacy != nil {
		if err := l.viewCgroups(false); err != nil {
			return nil, err
		}
		defer l.cgroups.close()
	}
	seen, err := l.enterView(t)
	if err != nil {
		return nil, err
	}
	if err := l.enterName(t); err != nil {
		return nil, err
	}
	messagePath := ""
	if l.container.TerminationMessagePath != "" && !seen {
		messagePath = l.slot.message.path
	}
	env := l.sandbox.environment(l.container, messagePath)
	l.env = env
	dir, err := workingDir(l.container.WorkingDir)
	if err != nil {
		return nil, err
	}
	path, err := program(l.container.Command, env, dir, onThisMachine)
	if err != nil {
		return nil, err
	}
	attr := &syscall.ProcAttr{Dir: dir, Env: env}
	if l.sandbox.staged {
		return nil, l.stage(path, attr)
	}
	return l.exec(t, path, attr)
}

// viewCgroups opens the container's cgroups of version 1. The thread must see the machine's file system.
func (l *launch) viewCgroups(writable bool) (err error) {
	l.cgroups, err = l.legacy.view(writable)
	return err
}

func (l *launch) enterName(t *thread) error {
	if l.container.Hostname == "" {
		return nil
	}
	if err := unix.Unshare(unix.CLONE_NEWUTS); err != nil {
		return err
	}
	t.addUndo(func() error { return setns(t.sandbox.views.names, unix.CLONE_NEWUTS) })
	if err := unix.Sethostname([]byte(l.container.Hostname)); err != nil {
		return startErrorf("set the host name %q: %v", l.container.Hostname, err)
	}
	return nil
}

// exec starts the program where package stage cannot. ForkExec holds up this whole process until the kernel has loaded the
// program, which may be on a dead disk. Memory is limited after it, when nothing that shares this process's memory is left in
// the cgroups.
func (l *launch) exec(t *thread, path string, attr *syscall.ProcAttr) (*Process, error) {
	defer l.streams.close()
	if err := l.streams.openFor(l); err != nil {
		return nil, err
	}
	pidfd := -1
	attr.Files = []uintptr{uintptr(l.streams.stdin), uintptr(l.streams.stdout), uintptr(l.streams.stderr)}
	attr.Sys = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, PidFD: &pidfd}
	if l.slot.leaf != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(l.slot.leaf.dir.Fd())
	}
	if u := l.container.User; u != nil && l.sandbox.info.CanSetUser {
		attr.Sys.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
	}
	started := time.Now()
	if err := l.enterLegacy(t); err != nil {
		return nil, err
	}
	pid, err := l.sandbox.processes.fork(func() (int, error) {
		return syscall.ForkExec(path, l.container.Command, attr)
	})
	if err != nil {
		return nil, execError(path, err)
	}
	p, err := newProcess(l, pid, pidfd, started)
	if err != nil {
		return nil, err
	}
	if l.legacy != nil {
		err = l.legacy.leave()
	}
	if err == nil {
		err = p.limitStarted(l)
	}
	if err != nil {
		p.pidfd.Close()
		return nil, l.undoFork(p.PID, err)
	}
	return p, nil
}

// enterLegacy moves the thread into the container's cgroups of version 1.
func (l *launch) enterLegacy(t *thread) error {
	if l.legacy == nil {
		return nil
	}
	t.addUndo(l.legacy.leave)
	return l.legacy.enter()
}

// limitStarted limits the memory of a process that runs. With version 1 the kernel refuses a limit that is exceeded already.
func (p *Process) limitStarted(l *launch) error {
	err := l.limitMemory()
	if errors.Is(err, unix.EBUSY) {
		p.exceeded = true
		return p.signal(unix.SIGKILL)
	}
	return err
}

// execError makes a StartError of err, unless the machine lacks resources.
func execError(path string, err error) error {
	if isLack(err) {
		return err
	}
	if errors.Is(err, unix.ENOENT) {
		return startErrorf("cannot run %s: the interpreter or loader that it names is not on this machine", path)
	}
	return startErrorf("cannot run %s: %v", path, err)
}

// isLack reports whether err means that the machine lacks resources, which may pass.
func isLack(err error) bool {
	return slices.ContainsFunc([]error{unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.EINTR, unix.EBUSY, unix.ENOSPC, unix.EDQUOT},
		func(lack error) bool { return errors.Is(err, lack) })
}

// setNonblock sets the flags of a new descriptor, of which it knows the access mode.
func setNonblock(fd, mode int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, mode|unix.O_NONBLOCK)
	return err
}
