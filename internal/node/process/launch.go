package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/host"
	"github.com/stint-dev/stint/internal/node/process/rundir"
	"github.com/stint-dev/stint/internal/node/process/wire"
	"github.com/stint-dev/stint/internal/userns"
)

// hostCommand is the hidden command that makes this program a host.
const hostCommand = "container-host"

// HostMain runs the host process if args, the arguments of this program, ask for it. A program that starts a Runtime calls
// HostMain before anything else.
func HostMain(args []string) (handled bool, exitCode int) {
	if len(args) != 3 || args[1] != hostCommand {
		return false, 0
	}
	var config host.Config
	if err := json.Unmarshal([]byte(args[2]), &config); err != nil {
		fmt.Fprintln(os.Stderr, "container-host is started by stint itself:", err)
		return true, host.ExitFailed
	}
	if config.Relay {
		return true, relay(config)
	}
	return true, host.Main(config)
}

// errNoIsolationLevel means that starting a host has failed at every isolation level.
var errNoIsolationLevel = errors.New("it cannot be started")

// launcher starts a host process at the best isolation level that works. It tries the next level only if the process
// cannot be started or has failed. It waits for a slow one, because the next level would isolate containers less.
type launcher struct {
	config Config
	levels []isolationLevel
	// tried counts the levels that have failed.
	tried int
	why   string
	pid   int
	pause time.Duration
	// started is whether a host was ever started.
	started bool
}

func newLauncher(config Config) *launcher {
	return &launcher{config: config, levels: isolationLevels(config)}
}

// preferredProgram is the program that the host should run. It is empty, which is any, once this launcher has started a
// host.
func (l *launcher) preferredProgram() string {
	if l.started {
		return ""
	}
	return wire.Program(l.config.Executable)
}

// advance starts a host, or checks the one that was started last.
func (l *launcher) advance(ctx context.Context, runDir string) error {
	if l.pid == 0 {
		if err := endOrphans(ctx, l.config.Dir, runDir); err != nil {
			l.wait(ctx)
			return err
		}
		err := l.launch(runDir)
		if isLack(err) {
			l.wait(ctx)
		}
		return err
	}
	status, ended := l.poll()
	if !ended {
		l.wait(ctx)
		return nil
	}
	l.pid, l.pause = 0, 0
	if status.ExitStatus() == host.ExitTaken || status.ExitStatus() == 0 {
		return nil // another host has the run directory, or this one has ended as idle
	}
	l.why = lastLine(filepath.Join(runDir, host.LogName))
	l.tried++
	return fmt.Errorf("the host process ended at once: %s", l.why)
}

// wait waits a little, at first 1 ms and later 5 ms.
func (l *launcher) wait(ctx context.Context) {
	l.pause = min(max(2*l.pause, time.Millisecond), 5*time.Millisecond)
	select {
	case <-ctx.Done():
	case <-time.After(l.pause):
	}
}

// poll reports whether the host has ended.
func (l *launcher) poll() (status syscall.WaitStatus, ended bool) {
	pid, err := syscall.Wait4(l.pid, &status, syscall.WNOHANG, nil)
	return status, err != nil || pid != 0
}

// startedHost returns the process id of the connected host if this launcher has started it. If it has started a relay, or
// if the run directory has the host of another control plane, startedHost kills what it has started and returns 0.
func (l *launcher) startedHost(link *link) int {
	if peer, err := link.conn.Peer(); err == nil && int(peer.Pid) != l.pid {
		l.killStarted()
		return 0
	}
	return l.pid
}

// killStarted kills the process that was started. No control plane has reached it, so it has no containers.
func (l *launcher) killStarted() {
	if pid := l.pid; pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		// A process that is stuck in the kernel must not hold up this one.
		go func() { _, _ = syscall.Wait4(pid, nil, 0, nil) }()
	}
}

// isLack reports whether err means that a process cannot be started now, but perhaps later.
func isLack(err error) bool {
	return slices.ContainsFunc([]error{unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ETXTBSY},
		func(lack error) bool { return errors.Is(err, lack) })
}

func (l *launcher) launch(runDir string) error {
	if l.tried >= len(l.levels) {
		_ = rundir.Remove(runDir, host.LogName) // The directory stays if a former host has left its journal there.
		return fmt.Errorf("%w: %s", errNoIsolationLevel, l.why)
	}
	config := host.Config{
		Dir: l.config.Dir, RunDir: runDir, StartTimeout: l.config.StartTimeout, IdleExit: l.config.IdleExit,
		NoCgroups: l.config.NoCgroups, PodMaxPIDs: l.config.PodMaxPIDs,
		KeepSessionKeyring: l.config.KeepSessionKeyring,
	}
	cmd, err := l.levels[l.tried](l, &config)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(runDir, host.LogName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	if err := start(cmd, config); err != nil {
		if !isLack(err) {
			l.why = err.Error()
			l.tried++
		}
		return err
	}
	l.pid, l.started = cmd.Process.Pid, true
	return cmd.Process.Release()
}

// start starts cmd, in a new user namespace if the config asks for one. A relay makes that later.
func start(cmd *exec.Cmd, config host.Config) error {
	if config.Outside == nil || config.Relay {
		return cmd.Start()
	}
	return userns.Own().Start(cmd)
}

// lastLine returns the last line of a file, at most 4 KiB of it.
func lastLine(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	tail := make([]byte, min(size, 4096))
	n, _ := f.ReadAt(tail, size-int64(len(tail)))
	lines := strings.Split(strings.TrimSpace(string(tail[:n])), "\n")
	return lines[len(lines)-1]
}

// reap reaps a host that this process has started, so that no zombie is left. A pid of 0 is a host that another process has
// started.
func reap(pid int) {
	if pid != 0 {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
}
