package sandbox

import (
	"errors"
	"fmt"
	goruntime "runtime"
	"time"

	"golang.org/x/sys/unix"
)

// task is work for a thread: a fork, or what else must happen in the threads' namespaces.
type task struct {
	do   func(*thread) error
	done chan error
	// taken is whether a thread has it.
	taken bool
}

// thread is a locked operating system thread. Its children die with it, so it ends only when it can have none.
type thread struct {
	sandbox *Sandbox
	// group is where its children start; nil if the number of processes is not limited by such cgroups, or it starts no containers.
	group *pidsGroup
	// undo returns the thread to where it was before the job, last step first.
	undo []func() error
}

// startThread starts a thread that works on jobs. It stays in the group, if there is one.
func (s *starters) startThread(jobs *taskQueue, group *pidsGroup) error {
	ready := make(chan error, 1)
	go func() {
		goruntime.LockOSThread()
		t := &thread{sandbox: s.sandbox, group: group}
		err := t.setUp(s.locked)
		ready <- err
		if err == nil {
			t.work(jobs, s)
		}
	}()
	return <-ready
}

// setUp gives up capabilities and enters namespaces and cgroups, for as long as the thread lives.
func (t *thread) setUp(locked bool) error {
	// In a user namespace this process has ambient capabilities, by which it has kept its rights over an execve.
	// Containers must not inherit them.
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if err := dropInheritable(); err != nil {
		return fmt.Errorf("drop inheritable capabilities: %w", err)
	}
	if !t.sandbox.config.KeepSessionKeyring {
		JoinNewSession()
	}
	if locked {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
	}
	if t.group != nil {
		if err := t.group.enter(); err != nil {
			return fmt.Errorf("limit the number of processes: %w", err)
		}
	}
	if t.sandbox.views == nil {
		t.sandbox.views = openViews(t.sandbox.config)
		return nil
	}
	return t.sandbox.views.join()
}

// dropInheritable empties the inheritable set, which would add to the capabilities of files that containers execute. The
// thread keeps its own capabilities.
func dropInheritable() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	return unix.Capset(&header, &data[0])
}

// work does jobs until there will be no more.
func (t *thread) work(jobs *taskQueue, s *starters) {
	for j := jobs.take(); j != nil; j = jobs.take() {
		err := j.do(t)
		back := t.undoAll()
		j.done <- err
		if back != nil {
			// The thread cannot leave a container's namespaces or cgroups. It must not end, because its children
			// would die, so it stays idle for ever and another thread replaces it.
			for s.startThread(jobs, t.group) != nil {
				time.Sleep(hangTime)
			}
			select {}
		}
	}
}

// outside does work on a thread whose children are not limited as the processes of a container are.
func (t *thread) outside(do func(*thread) error) error {
	if t.group == nil {
		return do(t)
	}
	return t.sandbox.jobs.run(do)
}

func (t *thread) addUndo(step func() error) { t.undo = append(t.undo, step) }

func (t *thread) undoAll() error {
	var failed []error
	for len(t.undo) > 0 {
		last := len(t.undo) - 1
		if err := t.undo[last](); err != nil {
			failed = append(failed, err)
		}
		t.undo = t.undo[:last]
	}
	return errors.Join(failed...)
}
