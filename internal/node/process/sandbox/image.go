package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/rootfs"
	"github.com/stint-dev/stint/internal/node/process/stage"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// openRoots finds out whether containers can have root file systems of their own.
func (b *Sandbox) openRoots() error {
	switch {
	case !stage.Supported:
		return errors.New("containers are started from images on amd64 and arm64 only")
	case b.config.RootsDir == "":
		return errors.New("there is no directory for the files that containers write")
	case !b.views.usable():
		return errors.New(b.views.why)
	case !isRoot():
		return errors.New("images have several users, which needs root of this machine or of a user namespace")
	}
	b.child = gatherChildFacts()
	err := b.jobs.run(func(t *thread) (err error) {
		t.addUndo(func() error { return setns(b.views.base, unix.CLONE_NEWNS) })
		b.roots, err = rootfs.Open(b.config.RootsDir, b.views.stage())
		return err
	})
	if err == nil {
		err = b.tryRoot()
	}
	if err != nil && b.roots != nil {
		b.roots.Close()
		b.roots = nil
	}
	return err
}

// tryRoot starts a container whose only file is not a program. All steps before its execve must succeed.
func (b *Sandbox) tryRoot() error {
	const name = "probe"
	tree := filepath.Join(b.config.StateDir, name)
	if err := os.Mkdir(tree, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	defer os.Remove(tree)
	program := filepath.Join(tree, name)
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		return err
	}
	defer os.Remove(program)
	l := &launch{sandbox: b, container: &runtime.Container{Command: []string{"/" + name}, Root: &runtime.Root{Tree: tree}}}
	defer func() {
		// The tree is removed, so the root file system must not serve another container.
		if root := l.root; root != nil {
			l.root = nil
			_ = b.jobs.run(func(t *thread) error {
				t.addUndo(func() error { return setns(b.views.base, unix.CLONE_NEWNS) })
				b.roots.Discard(root)
				return nil
			})
		}
		l.abandon()
	}()
	err := b.jobs.run(func(t *thread) error {
		if err := l.prepare(); err != nil {
			return err
		}
		return l.forkInRoot(t)
	})
	if err != nil {
		return err
	}
	err = l.child.Wait(context.Background())
	l.dropChild()
	if failureOf(err) == unix.ENOEXEC {
		return nil
	}
	var failed *stage.Error
	if errors.As(err, &failed) && failed.What == stepMountProc && failed.Errno == unix.EPERM {
		return fmt.Errorf("a container %w: if this is a container itself, it must be privileged, or have its /proc unmasked", err)
	}
	return fmt.Errorf("a container %w", err)
}

// forkInRoot starts the container in the root file system of its image.
func (l *launch) forkInRoot(t *thread) error {
	c := l.container
	if err := l.openPIDs(t); err != nil {
		return err
	}
	defer l.closePIDs()
	// Before the thread enters the container's root file system, from where the cgroups cannot be opened.
	if l.legacy != nil {
		if err := l.viewCgroups(l.container.Root.Privileged); err != nil {
			return err
		}
		defer l.cgroups.close()
	}
	if len(c.Root.Sysctls) > 0 {
		if err := t.enterIPC(c.Root.Sysctls); err != nil {
			return err
		}
	}
	if err := l.enterRoot(t); err != nil {
		return err
	}
	if l.sharesPIDs() {
		l.mounts = l.sandbox.podPIDs.mountNamespace()
	}
	env := l.imageEnvironment()
	l.env = env
	dir := cmp.Or(c.WorkingDir, "/")
	if err := makeDirInRoot(dir); err != nil {
		return startErrorf("working directory: %v", err)
	}
	path, err := program(c.Command, env, dir, inTheImage)
	if err != nil {
		return err
	}
	if c.Root.ReadOnly {
		if err := l.root.Seal(); err != nil {
			return err
		}
	}
	return l.startChild(path, dir, env)
}

// sharesPIDs reports whether the container has no pid namespace of its own.
func (l *launch) sharesPIDs() bool {
	return l.container.Root.HostPID || l.container.Root.SharePIDs || l.target != nil
}

// openPIDs opens a process with which the container shares process ids.
func (l *launch) openPIDs(t *thread) (err error) {
	switch {
	case l.container.Root.SharePIDs:
		l.pids, err = l.sandbox.podPIDs.enter(t, l.container.PodUID, l.network)
		l.sharesPod = err == nil
	case l.target != nil && !l.target.join.container.Root.HostPID:
		l.pids, err = duplicate(l.target.fd)
	}
	return err
}

func (l *launch) closePIDs() {
	if l.pids > 0 {
		unix.Close(l.pids)
		l.pids = 0
	}
}

func duplicate(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }

// makeDirInRoot makes a directory that is missing in the thread's root file system. It follows the texts of links: those in the
// machine's /proc, which may be mounted there, lead to the machine's files by themselves.
func makeDirInRoot(dir string) error {
	w, err := walkFrom("/")
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.to(dir, func(name string, _ bool) error { return makeAt(w.here().fd, name, true) }); err != nil {
		return err
	}
	if !w.here().isDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	return nil
}

// enterRoot moves the thread to the container's root file system, with its volumes.
func (l *launch) enterRoot(t *thread) error {
	c, v := l.container, l.sandbox.views
	if err := t.enter(v.volumes); err != nil {
		return err
	}
	if err := l.sandbox.mountMemory(c.PodUID, c.Mounts); err != nil {
		return faultOf(err)
	}
	mounts := slices.Clone(c.Mounts)
	if c.TerminationMessagePath != "" {
		mounts = append(mounts, runtime.Mount{HostPath: l.slot.message.path, ContainerPath: c.TerminationMessagePath})
	}
	mounts = append(mounts, machineMounts(c.Root)...)
	composed, err := newComposition(mounts)
	defer composed.close()
	if err != nil {
		return faultOf(err)
	}
	var fault *rootfs.ImageError
	l.root, err = l.sandbox.roots.Enter(c.Root.Tree, c.Root.Owner, c.Root.Files)
	if errors.As(err, &fault) {
		return &StartError{Reason: fault.Reason}
	}
	if err != nil {
		return err
	}
	if c.Root.Privileged {
		if err := rootfs.OpenSys(); err != nil {
			return err
		}
	}
	if l.cgroups != nil {
		if err := l.cgroups.makePoints(); err != nil {
			return err
		}
	}
	composed.inPlace = true
	if err := composed.mountAll(); err != nil {
		return faultOf(err)
	}
	l.volumes = composed.volumes
	return nil
}

// imageEnvironment is the container's environment with defaults for PATH and HOSTNAME, and with its mark if that is needed.
func (l *launch) imageEnvironment() []string {
	c := l.container
	env := withDefault(slices.Clone(c.Env), "PATH", defaultPath)
	if c.Hostname != "" {
		env = withDefault(env, "HOSTNAME", c.Hostname)
	}
	env = withTerminal(env, c.TTY)
	if l.sharesPIDs() || l.slot.leaf == nil && !l.sandbox.config.PIDNamespace {
		// There is neither a pid namespace nor a cgroup of the container alone by which its processes are found.
		env = append(env, mark(l.sandbox.config.Name, c.ID))
	}
	return env
}

// startChild forks the container's first process. It does not wait for it.
func (l *launch) startChild(path, dir string, env []string) error {
	defer l.streams.close()
	if err := l.streams.openFor(l); err != nil {
		return err
	}
	p := l.childProgram(childSpec{path: path, dir: dir, env: env, streams: l.streams})
	own := stage.Namespaces(unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS)
	if l.sharesPIDs() {
		own &^= unix.CLONE_NEWPID
	}
	if root := l.container.Root; root.HostIPC || len(root.Sysctls) > 0 {
		own &^= unix.CLONE_NEWIPC
	}
	return l.clone(p, own)
}

// join waits until the container's first process runs its program, or was killed.
func (l *launch) join(ctx context.Context) (*Process, error) {
	l.root.Leave()
	err := l.child.Wait(ctx)
	if err == nil {
		return newProcess(l, l.child.PID, l.child.PIDFD, l.started)
	}
	l.dropChild()
	switch errno := failureOf(err); {
	case l.lacksMemory(err):
		return nil, l.tooTight(err)
	case isLack(err):
		return nil, err
	case errno != 0 && l.root == nil:
		return nil, execError(l.path, errno)
	case errno == unix.ENOENT:
		return nil, startErrorf("cannot run %q: the image lacks the interpreter or loader that it names", l.container.Command[0])
	case errno != 0:
		return nil, startErrorf("cannot run %q: %v", l.container.Command[0], errno)
	}
	return nil, startErrorf("%v", err)
}

// failureOf is why the execve of the program failed; 0 if an earlier step failed.
func failureOf(err error) unix.Errno {
	var failed *stage.Error
	if errors.As(err, &failed) && failed.What == stepRunProgram {
		return failed.Errno
	}
	return 0
}

// reusesRoot reports whether the root file system may serve another container: no process and no mount of this one can be left when its main
// process has ended, because the kernel ends its pid namespace then.
func (l *launch) reusesRoot() bool {
	root := l.container.Root
	return root != nil && !l.sharesPIDs() && !root.Privileged && root.Capabilities&(1<<unix.CAP_SYS_ADMIN) == 0
}

func (b *Sandbox) giveBackRoot(root *rootfs.Root, clean bool) {
	if root != nil {
		b.roots.GiveBack(root, clean)
	}
}
