package sandbox

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/stage"
)

// execNested starts a program of this machine as the user who runs this process outside of its user namespace, without the
// rights of root in that namespace.
func (l *launch) execNested(path string, attr *syscall.ProcAttr) (*Process, error) {
	ends, err := l.pipes()
	defer ends.close()
	if err != nil {
		return nil, err
	}
	c := &child{Program: &stage.Program{}, container: l.container}
	c.detach()
	c.setStreams(childSpec{stdin: int(l.sandbox.null.Fd()), stdout: ends[0], stderr: ends[1]})
	c.enterUsers(l.sandbox.users.self)
	c.Do("enter the working directory "+attr.Dir, unix.SYS_CHDIR, c.String(attr.Dir))
	c.execute(path, attr.Env)
	if err := l.clone(c.Program, 0); err != nil {
		return nil, err
	}
	err = l.child.Wait()
	if err == nil {
		return newProcess(l, l.child.PID, l.child.PIDFD, l.started)
	}
	l.dropChild()
	if errno := failureOf(err); errno != 0 {
		return nil, execError(path, errno)
	}
	return nil, err
}

// enterUsers enters a user namespace. The process has all capabilities there.
func (c *child) enterUsers(namespace *os.File) {
	c.Do("enter its user namespace", unix.SYS_SETNS, namespace.Fd(), unix.CLONE_NEWUSER)
	c.dieWithHost()
}

// clone forks a child that goes down the list of p.
func (l *launch) clone(p *stage.Program, own stage.Namespaces) error {
	cgroup := -1
	if l.slot.leaf != nil {
		cgroup = int(l.slot.leaf.dir.Fd())
	}
	l.started = time.Now()
	_, err := l.sandbox.processes.fork(func() (pid int, err error) {
		if l.child, err = stage.Start(p, own, cgroup); err != nil {
			return 0, err
		}
		return l.child.PID, nil
	})
	if err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	return nil
}

// dropChild frees what belongs to a child that ended before it ran its program.
func (l *launch) dropChild() {
	l.sandbox.processes.forget(l.child.PID)
	unix.Close(l.child.PIDFD)
}
