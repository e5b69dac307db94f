package sandbox

import (
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

	mu sync.Mutex
	// reaped is whether its process id may be that of another process.
	reaped bool
}

// errNotRunning means that the container has ended, or is about to.
var errNotRunning = errors.New("the container does not run any more")

// Exec starts a command in the container. It returns the ends of its streams for the caller, who closes them. The caller
// calls Wait.
func (p *Process) Exec(args []string, terminal bool, size runtime.Size) (*Command, []int, error) {
	if !p.commands.begin() {
		return nil, nil, errNotRunning
	}
	defer p.commands.begun()
	if len(args) == 0 || args[0] == "" {
		return nil, nil, &runtime.CommandError{Code: runtime.ExitNotFound, Reason: "there is no command"}
	}
	s := childStreams{terminal: terminal, size: size}
	defer func() { closeAll(s.theirs()) }()
	c, err := p.exec(args, &s)
	if err != nil {
		closeAll(s.ours)
		return nil, nil, p.commandError(args[0], err)
	}
	return c, s.ours, nil
}

func (p *Process) exec(args []string, s *childStreams) (*Command, error) {
	var cgroups *cgroupView
	var child *stage.Child
	if s.terminal && p.root == nil {
		if err := s.openTerminal(p.join.owner); err != nil {
			return nil, err
		}
	}
	err := p.jobs().run(func(t *thread) (err error) {
		if p.legacy != nil {
			if cgroups, err = p.legacy.view(false); err != nil {
				return err
			}
			defer cgroups.close()
		}
		if len(s.ours) == 0 {
			if err := p.openStreams(t, s); err != nil {
				return err
			}
		}
		child, err = p.fork(p.joinProgram(*s, cgroups, args))
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := child.Wait(); err != nil {
		p.sandbox.processes.forget(child.PID)
		unix.Close(child.PIDFD)
		return nil, err
	}
	return p.newCommand(child)
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
func (p *Process) openStreams(t *thread, s *childStreams) error {
	if !s.terminal {
		return s.openPipes(true, nil)
	}
	t.addUndo(func() error { return setns(t.sandbox.views.base, unix.CLONE_NEWNS) })
	if err := unix.Setns(p.fd, unix.CLONE_NEWNS); err != nil {
		return err
	}
	dev, err := unix.Open("/dev", unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a terminal: %w", &os.PathError{Op: "open", Path: "/dev", Err: err})
	}
	defer unix.Close(dev)
	return s.openTerminalIn(dev, p.join.owner)
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
	case errors.Is(err, unix.ESRCH):
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

func (p *Process) newCommand(child *stage.Child) (*Command, error) {
	c := &Command{container: p, pid: child.PID}
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
		return nil, err
	}
	_ = setFile(procDir(c.pid), "oom_score_adj", oomScore)
	p.commands.add(c)
	return c, nil
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

// end kills all commands and waits until they are gone.
func (c *commands) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.idle.L = &c.mu
	for c.starting+len(c.running) > 0 {
		for command := range c.running {
			command.kill()
		}
		c.idle.Wait()
	}
}
