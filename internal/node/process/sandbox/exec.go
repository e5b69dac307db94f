package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/stage"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Command is a process beside the main process of a container.
type Command struct {
	container *Process
	pid       int
	pidfd     *os.File
	raw       syscall.RawConn
	// giveUp ends the wait until it executes its program. settle is called when it has, or is gone.
	giveUp, settle func()

	mu sync.Mutex
	// reaped is whether its process id may be that of another process.
	reaped bool
}

// errNotRunning means that the container has ended, or is about to.
var errNotRunning = errors.New("the container does not run any more")

// Exec starts a command in the container. It returns the ends of its streams for the caller, who closes them. The caller
// calls Wait. A command that has not executed its program when ctx is done, as the container has stopped it or its disk does not
// answer, is killed.
func (p *Process) Exec(ctx context.Context, args []string, terminal bool, size runtime.Size) (*Command, []int, error) {
	if len(args) == 0 || args[0] == "" {
		return nil, nil, &runtime.CommandError{Code: runtime.ExitNotFound, Reason: "there is no command"}
	}
	settle, err := p.commands.claimStart(ctx)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &Command{container: p, giveUp: cancel, settle: settle}
	s := childStreams{terminal: terminal, size: size}
	child, err := c.start(args, &s)
	closeAll(s.theirs())
	if err != nil {
		settle()
	} else {
		err = c.awaitProgram(ctx, child)
	}
	if err != nil {
		closeAll(s.ours)
		return nil, nil, p.commandError(args[0], err)
	}
	return c, s.ours, nil
}

// start starts a process that is to execute the command.
func (c *Command) start(args []string, s *childStreams) (child *stage.Child, err error) {
	p := c.container
	if err := p.openStreams(s); err != nil {
		return nil, err
	}
	if !p.commands.begin() {
		return nil, errNotRunning
	}
	defer p.commands.begun()
	err = p.jobs().run(func(*thread) error {
		var cgroups *cgroupView
		if p.legacy != nil {
			if cgroups, err = p.legacy.view(false); err != nil {
				return err
			}
			defer cgroups.close()
		}
		child, err = p.fork(p.joinProgram(*s, cgroups, args))
		return err
	})
	if err != nil {
		return nil, err
	}
	return child, c.follow(child)
}

// awaitProgram waits until the process executes the command. If it does not, it is reaped in the background, as it may not end at
// once.
func (c *Command) awaitProgram(ctx context.Context, child *stage.Child) error {
	err := child.Wait(ctx)
	if err == nil && ctx.Err() == nil {
		c.settle()
		return nil
	}
	if err == nil {
		c.kill()
		err = errNotRunning
	}
	go func() { _, _ = c.Wait() }()
	return err
}

// jobs are those of the threads whose children are processes of the container.
func (p *Process) jobs() *taskQueue {
	if p.group != nil {
		return p.group.jobs
	}
	return p.sandbox.jobs
}

// openStreams makes the streams. A terminal of a container from an image must be made there. The threads are where /dev may
// be a shadow, in which the kernel finds no terminals, so that of another container is made before.
func (p *Process) openStreams(s *childStreams) error {
	switch {
	case !s.terminal:
		return s.openPipes(true, nil)
	case p.root == nil:
		return s.openTerminal(p.join.owner)
	}
	process, err := p.open()
	if err != nil {
		return err
	}
	defer unix.Close(process)
	return p.sandbox.jobs.run(func(t *thread) error {
		t.addUndo(func() error { return setns(t.sandbox.views.base, unix.CLONE_NEWNS) })
		if err := unix.Setns(process, unix.CLONE_NEWNS); err != nil {
			return err
		}
		dev, err := unix.Open("/dev", unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open a terminal: %w", &os.PathError{Op: "open", Path: "/dev", Err: err})
		}
		defer unix.Close(dev)
		return s.openTerminalIn(dev, p.join.owner)
	})
}

// open returns a descriptor of the main process, which may be used when the container has ended: a disk on its /dev may not answer.
func (p *Process) open() (int, error) {
	if !p.commands.begin() {
		return -1, errNotRunning
	}
	defer p.commands.begun()
	return duplicate(p.fd)
}

// fork starts a process among those of the container.
func (p *Process) fork(program *stage.Program) (child *stage.Child, err error) {
	cgroup := -1
	if p.slot.leaf != nil {
		cgroup = int(p.slot.leaf.dir.Fd())
	}
	_, err = p.sandbox.processes.fork(func() (pid int, err error) {
		if child, err = p.group.start(program, 0, cgroup); err == nil {
			pid = child.PID
		}
		return pid, err
	})
	return child, err
}

// commandError makes a CommandError of err if the command is at fault.
func (p *Process) commandError(name string, err error) error {
	var failed *stage.Error
	switch {
	case errors.Is(err, unix.ESRCH), errors.Is(err, errNotRunning):
		return errNotRunning
	case isLack(err) || !errors.As(err, &failed):
		return fmt.Errorf("start a command: %w", err)
	case failed.What != stepRunProgram:
		return &runtime.CommandError{Code: runtime.ExitCannotRun, Reason: failed.Error()}
	case failed.Errno == unix.ENOENT || failed.Errno == unix.ENOTDIR:
		return &runtime.CommandError{Code: runtime.ExitNotFound, Reason: fmt.Sprintf("cannot run %q: there is no such program in the container", name)}
	}
	return &runtime.CommandError{Code: runtime.ExitCannotRun, Reason: fmt.Sprintf("cannot run %q: %v", name, failed.Errno)}
}

// follow makes the process one of the commands of its container, which ends it.
func (c *Command) follow(child *stage.Child) error {
	p := c.container
	c.pid = child.PID
	// Non-blocking, so that the poller of the Go runtime waits for it and no thread has to.
	err := setNonblock(child.PIDFD, unix.O_RDWR)
	c.pidfd = os.NewFile(uintptr(child.PIDFD), "pidfd")
	if err == nil {
		c.raw, err = c.pidfd.SyscallConn()
	}
	if err != nil {
		c.pidfd.Close()
		_ = unix.Kill(child.PID, unix.SIGKILL)
		_ = reap(child.PID)
		p.sandbox.processes.forget(child.PID)
		return err
	}
	_ = setFile(procDir(c.pid), "oom_score_adj", oomScore)
	p.commands.add(c)
	return nil
}

// Wait waits until the command has ended, and returns its exit code. It returns a CommandError if the command was killed as
// its container has ended.
func (c *Command) Wait() (int32, error) {
	var status syscall.WaitStatus
	_ = c.raw.Read(func(uintptr) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		pid, err := syscall.Wait4(c.pid, &status, syscall.WNOHANG, nil)
		for err == syscall.EINTR {
			pid, err = syscall.Wait4(c.pid, &status, syscall.WNOHANG, nil)
		}
		c.reaped = err != nil || pid == c.pid
		return c.reaped
	})
	c.container.sandbox.processes.forget(c.pid)
	c.pidfd.Close()
	c.settle()
	c.container.commands.remove(c)
	if !status.Signaled() {
		return int32(status.ExitStatus()), nil
	}
	code := 128 + int32(status.Signal())
	if status.Signal() == unix.SIGKILL && c.container.isEnding() {
		return 0, &runtime.CommandError{Code: code, Reason: errNotRunning.Error()}
	}
	return code, nil
}

// isEnding reports whether the main process has begun to exit. The first process of a pid namespace kills the others then.
func (p *Process) isEnding() bool {
	s := statOf(p.PID)
	return s.dead || s.ending
}

// hangUpGrace is how long a command may go on after it was told that its terminal is gone.
const hangUpGrace = 2 * time.Second

// HangUp tells the command and its process group that their client is gone, and kills what is left after a while.
func (c *Command) HangUp() {
	c.signalGroup(unix.SIGHUP)
	time.AfterFunc(hangUpGrace, c.kill)
}

func (c *Command) signalGroup(signal syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		_ = unix.Kill(-c.pid, signal)
	}
}

// kill kills the command and its descendants.
func (c *Command) kill() {
	c.giveUp()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reaped {
		killOwn(c.pid)
	}
}

// commands are those that run in a container.
type commands struct {
	mu       sync.Mutex
	idle     sync.Cond
	starting int
	running  map[*Command]bool
	ended    bool
	// unsettled has an element for each command that neither has executed its program nor is gone.
	unsettled chan struct{}
}

// maxUnsettled bounds what commands that do not start take: a container may stop them, or have its programs on a disk that does not
// answer.
const maxUnsettled = 100

// claimTimeout is how long a command waits for others that are being started.
const claimTimeout = 5 * time.Second

// claimStart returns a function to call when a command has executed its program or is gone. It returns an error while too many have
// not.
func (c *commands) claimStart(ctx context.Context) (settle func(), err error) {
	unsettled := c.starts()
	settle = sync.OnceFunc(func() { <-unsettled })
	select {
	case unsettled <- struct{}{}:
		return settle, nil
	default:
	}
	limit := time.NewTimer(claimTimeout)
	defer limit.Stop()
	select {
	case unsettled <- struct{}{}:
		return settle, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-limit.C:
		return nil, &runtime.CommandError{Code: runtime.ExitCannotRun, Reason: fmt.Sprintf("%d commands of the container were started and have "+
			"not run yet: it has stopped them, or their programs are on a disk that does not answer", maxUnsettled)}
	}
}

func (c *commands) starts() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsettled == nil {
		c.unsettled = make(chan struct{}, maxUnsettled)
	}
	return c.unsettled
}

// begin reports whether the container still takes commands. If so, it does not end before the call of begun.
func (c *commands) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.starting++
	return true
}

func (c *commands) begun() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.starting--
	c.wake()
}

func (c *commands) add(command *Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = map[*Command]bool{}
	}
	c.running[command] = true
}

func (c *commands) remove(command *Command) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, command)
	c.wake()
}

func (c *commands) wake() {
	if c.idle.L != nil {
		c.idle.Broadcast()
	}
}

func (c *commands) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for command := range c.running {
		command.kill()
	}
}

func (c *commands) areLeft() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.running) > 0
}

// end kills all commands and waits until they are gone. It returns false if one does not end in time: its disk may not answer, or the
// process that traces it.
func (c *commands) end() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.starting+len(c.running) == 0 {
		return true
	}
	c.idle.L = &c.mu
	late := false
	limit := time.AfterFunc(killTimeout, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		late = true
		c.wake()
	})
	defer limit.Stop()
	for c.starting > 0 || !late && len(c.running) > 0 {
		for command := range c.running {
			command.kill()
		}
		c.idle.Wait()
	}
	return len(c.running) == 0
}
