package sandbox

import (
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/stage"
)

// stage starts a program of this machine without waiting until it runs. In a user namespace the program runs as the user
// who runs this process outside of it, without the rights of root in that namespace.
func (l *launch) stage(path string, attr *syscall.ProcAttr) error {
	defer l.streams.close()
	if err := l.streams.openFor(l); err != nil {
		return err
	}
	c := &child{Program: l.newProgram(), container: l.container}
	c.detach()
	if !l.sandbox.keepsSession(l.container) {
		c.joinNewSession()
	}
	if l.cgroups != nil {
		c.enterCgroups(l.cgroups)
	}
	c.enterNetwork(l.network)
	c.setStreams(l.streams)
	switch u := l.container.User; {
	case l.sandbox.users.self != nil:
		c.enterUsers(l.sandbox.users.self)
	case u != nil && l.sandbox.info.CanSetUser:
		c.user = *u
		c.setIDs()
	}
	c.lock()
	c.CloseFrom(firstOther)
	c.Do(stepEnterDir+" "+attr.Dir, unix.SYS_CHDIR, c.String(attr.Dir))
	c.limitFiles(l.sandbox.fileLimit)
	c.execute(path, attr.Env)
	l.path = path
	return l.clone(c.Program, 0)
}

// enterUsers enters a user namespace. The process has all capabilities there.
func (c *child) enterUsers(namespace *os.File) {
	c.Do("enter its user namespace", unix.SYS_SETNS, c.FD(int(namespace.Fd())), unix.CLONE_NEWUSER)
	c.credentialsHaveChanged()
}

// clone forks a child that goes down the list of p.
func (l *launch) clone(p *stage.Program, own stage.Namespaces) error {
	cgroup := -1
	if l.slot.leaf != nil {
		cgroup = int(l.slot.leaf.dir.Fd())
	}
	l.started = time.Now()
	_, err := l.sandbox.processes.fork(func() (pid int, err error) {
		if l.child, err = l.group.start(p, own, cgroup); err != nil {
			return 0, err
		}
		return l.child.PID, nil
	})
	if l.lacksMemory(err) {
		return l.tooTight(err)
	}
	if err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	return nil
}

// dropChild frees what belongs to a child that ends before it runs its program. One that another process traces is not reaped before
// that lets it go.
func (l *launch) dropChild() {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = reap(l.child.PID)
		l.sandbox.processes.forget(l.child.PID)
		unix.Close(l.child.PIDFD)
	}()
	select {
	case <-gone:
	case <-time.After(killTimeout):
		l.lingers = true
	}
}

// canStage reports whether this kernel has the calls that package stage makes (Linux 5.9), and no filter refuses them.
func canStage() bool {
	if !stage.Supported {
		return false
	}
	p := &stage.Program{}
	p.CloseFrom(firstOther)
	p.Do("end", unix.SYS_EXIT_GROUP, 0)
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	child, err := stage.Start(p, 0, -1)
	if err != nil {
		return false
	}
	unix.Close(child.PIDFD)
	failed := child.Wait(context.Background())
	return reap(child.PID) == nil && failed == nil
}
