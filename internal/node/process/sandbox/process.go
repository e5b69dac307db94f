package sandbox

import (
	"cmp"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/rootfs"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// oomScore makes the kernel choose containers before the programs that supervise them.
const oomScore = "500"

// Process is a container that was started.
type Process struct {
	PID       int
	StartedAt time.Time
	// Stdout and Stderr are what it prints. With a terminal, that is Stdout, and Stderr is nil.
	Stdout, Stderr *os.File
	// MissingMountPoints are mount points that do not exist on the machine, which is why the container cannot write
	// beside them.
	MissingMountPoints []runtime.MissingMountPoint

	sandbox *Sandbox
	id      runtime.ID
	slot    *slot
	group   *pidsGroup
	root    *rootfs.Root
	legacy  *legacyCgroups
	limits  limits
	// exceeded is whether it had used more memory than its limit before that could be set.
	exceeded bool
	// pidfd is the file of the descriptor fd, which stays non-blocking as long as it is not asked for it.
	pidfd    *os.File
	fd       int
	raw      syscall.RawConn
	status   syscall.WaitStatus
	input    input
	join     joining
	commands commands
	// stopSignal is what Terminate sends.
	stopSignal syscall.Signal
	// targetPID is process 1 of the container whose process ids it shares, and the parent of its orphans; 0 if it shares none.
	targetPID int
	// sharesPod is whether it has its process ids from podPIDs, and has not left them.
	sharesPod bool
	// reusesRoot is whether its root file system may serve another container after it.
	reusesRoot bool
	// mounts is the inode of its mount namespace, if that is needed to find its processes.
	mounts uint64
}

// Exit is how a container ended.
type Exit struct {
	Code, Signal int32
	OOMKilled    bool
	Message      string
}

func newProcess(l *launch, pid, pidfd int, started time.Time) (*Process, error) {
	if pidfd < 0 {
		var err error
		if pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
			return nil, l.undoFork(pid, err)
		}
	}
	// Non-blocking, so that the poller of the Go runtime waits for it and no thread has to.
	if err := setNonblock(pidfd, unix.O_RDWR); err != nil {
		unix.Close(pidfd)
		return nil, l.undoFork(pid, err)
	}
	_ = setFile(procDir(pid), "oom_score_adj", oomScore)
	p := &Process{
		PID: pid, StartedAt: started, Stdout: l.stdout, Stderr: l.stderr,
		MissingMountPoints: l.missing,

		sandbox: l.sandbox, id: l.container.ID, slot: l.slot, group: l.group, root: l.root, legacy: l.legacy, limits: l.limits,
		pidfd:      os.NewFile(uintptr(pidfd), "pidfd"),
		fd:         pidfd,
		join:       l.joining(),
		input:      input{file: l.stdin, terminal: l.container.TTY, once: l.container.StdinOnce},
		stopSignal: cmp.Or(syscall.Signal(l.container.StopSignal), unix.SIGTERM),
		sharesPod:  l.sharesPod, mounts: l.mounts, reusesRoot: l.reusesRoot(),
	}
	if l.target != nil {
		p.targetPID = l.target.PID
	}
	var err error
	if p.raw, err = p.pidfd.SyscallConn(); err != nil {
		p.pidfd.Close()
		return nil, l.undoFork(pid, err)
	}
	l.sharesPod = false
	return p, nil
}

// undoFork ends a process that cannot be supervised.
func (l *launch) undoFork(pid int, err error) error {
	_ = unix.Kill(pid, unix.SIGKILL)
	_, _ = unix.Wait4(pid, nil, 0, nil)
	l.sandbox.processes.forget(pid)
	return err
}

// Outputs are Stdout and Stderr, or the terminal.
func (p *Process) Outputs() []*os.File {
	if p.Stderr == nil {
		return []*os.File{p.Stdout}
	}
	return []*os.File{p.Stdout, p.Stderr}
}

// Wait waits for the main process to end.
func (p *Process) Wait() error {
	var failed error
	err := p.raw.Read(func(uintptr) bool {
		pid, err := syscall.Wait4(p.PID, &p.status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			pid, err = syscall.Wait4(p.PID, &p.status, syscall.WNOHANG, nil)
		}
		failed = err
		return err != nil || pid == p.PID
	})
	if failed == nil {
		failed = err
	}
	p.sandbox.processes.forget(p.PID)
	return failed
}

// OpenWritten opens the directory that holds what the container has written to its own root file system. The process must
// not have been released.
func (p *Process) OpenWritten() (*os.File, error) {
	if p.root == nil {
		return nil, os.ErrNotExist
	}
	return p.root.OpenWritten()
}

// Terminate asks the main process to end.
func (p *Process) Terminate() error { return p.signal(p.stopSignal) }

func (p *Process) signal(signal syscall.Signal) error {
	var failed error
	err := p.raw.Control(func(fd uintptr) { failed = unix.PidfdSendSignal(int(fd), signal, nil, 0) })
	if failed == unix.ESRCH {
		return nil
	}
	if err != nil {
		return err
	}
	return failed
}

// KillTree kills the main process and all its descendants.
func (p *Process) KillTree() error {
	var err error
	if p.slot.leaf != nil {
		err = p.slot.leaf.kill()
	}
	// Processes that have moved to another cgroup are not in the leaf.
	err = errors.Join(err, p.signal(unix.SIGKILL))
	p.commands.kill()
	p.killLeftovers()
	return err
}

// killLeftovers kills processes that no cgroup holds, and reports whether some may be left.
func (p *Process) killLeftovers() bool {
	of := traces{mark: mark(p.sandbox.config.Name, p.id), mounts: p.mounts}
	left := p.sandbox.processes.killTree(p.PID, p.isThere, of.mark)
	if p.targetPID != 0 {
		left = of.killBelow(p.targetPID) || left
	}
	if p.join.container.Root != nil && p.join.container.Root.SharePIDs {
		left = p.sandbox.podPIDs.killTree(p.id.PodUID, of) || left
	}
	return p.group.killAll() || left
}

// isThere reports whether the main process was not reaped, so that its pid is its own.
func (p *Process) isThere() (there bool) {
	_ = p.raw.Control(func(fd uintptr) { there = unix.PidfdSendSignal(int(fd), 0, nil, 0) == nil })
	return there
}

// EndTree kills the processes that are left when the main process has ended. It returns false if one did not end in time.
func (p *Process) EndTree() bool {
	if p.commands.areLeft() {
		_ = p.KillTree() // One that another process traces ends with that.
	}
	ended := p.commands.end()
	if p.sharesPod {
		p.sharesPod = false
		if !p.sandbox.podPIDs.leave(p.id.PodUID) {
			return false
		}
	}
	pause := killWait{limit: killTimeout}
	killed := false
	for ; p.slot.leaf.populated(); killed = true {
		// For an instant the cgroup may still count the process that was just reaped, so the first pass only waits.
		if killed && p.slot.leaf.kill() != nil {
			return false
		}
		if !pause.next() {
			return false
		}
	}
	if killed {
		// The next container would have fewer processes otherwise: those that are not reaped count.
		p.sandbox.processes.reap()
	}
	for p.killLeftovers() {
		if !pause.next() {
			return false
		}
	}
	return ended
}

// Release returns how the container ended and frees all that it used. Clean is what EndTree returned.
func (p *Process) Release(clean bool) Exit {
	exit := Exit{Code: int32(p.status.ExitStatus())}
	if p.status.Signaled() {
		exit.Signal = int32(p.status.Signal())
		exit.Code = 128 + exit.Signal
	}
	exit.OOMKilled = p.oomKills() > 0 && exit.Code != 0
	exit.Message = p.slot.message.read()
	p.pidfd.Close()
	closeStreams(p.input.take(), p.Stdout, p.Stderr)
	if p.legacy != nil {
		p.legacy.remove()
	}
	// After a kill the counters of the cgroup are not those of a fresh one.
	reusable := clean && !p.limits.bounded() && exit.Signal != int32(unix.SIGKILL)
	p.sandbox.giveBackRoot(p.root, clean && p.reusesRoot)
	p.group.giveBack()
	p.sandbox.giveBack(p.slot, reusable && (p.slot.leaf == nil || !p.slot.leaf.killed.Load()))
	return exit
}

func (p *Process) oomKills() int64 {
	switch {
	case p.exceeded:
		return 1
	case p.legacy != nil && p.legacy.memory != "":
		return p.legacy.oomKills()
	case p.slot.leaf != nil && (p.limits.memory > 0 || p.status.Signaled()):
		return p.slot.leaf.oomKills()
	}
	return 0
}
