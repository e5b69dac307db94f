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

// HostMain runs the host process if args, the program's own, ask for it. A program that starts a Runtime calls it
// before anything else.
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

// errNoIsolationLevel: every way to start a host has failed.
var errNoIsolationLevel = errors.New("it cannot be started")

// launcher starts a host process, the best way first. It takes the next one only where a process cannot be started or
// has failed. One that is slow is waited for: the next way would isolate containers less.
type launcher struct {
	config Config
	ways   []isolationLevel
	// tried counts the rungs that have failed.
	tried int
	why   string
	pid   int
	pause time.Duration
	// started: a host was started, whatever has become of it.
	started bool
}

func newLauncher(config Config) *launcher {
	return &launcher{config: config, ways: isolationLevels(config)}
}

// prefers is the program that the host should be of; empty is any, since this launcher has started one.
func (l *launcher) prefers() string {
	if l.started {
		return ""
	}
	return wire.Program(l.config.Executable)
}

// advance starts a host, or looks at the one that was started last.
func (l *launcher) advance(ctx context.Context, runDir string) error {
	if l.pid == 0 {
		err := l.launch(runDir)
		if isLack(err) {
			l.rest(ctx)
		}
		return err
	}
	status, ended := l.poll()
	if !ended {
		l.rest(ctx)
		return nil
	}
	l.pid, l.pause = 0, 0
	if status.ExitStatus() == host.ExitTaken || status.ExitStatus() == 0 {
		return nil // another one was there, or has just left
	}
	l.why = lastLine(filepath.Join(runDir, host.LogName))
	l.tried++
	return fmt.Errorf("the host process ended at once: %s", l.why)
}

// rest waits a little, longer from time to time.
func (l *launcher) rest(ctx context.Context) {
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

// settle returns the number of the host's process if it is the one that was started. If that was a relay, or another
// control plane has been faster, the one that was started waits for nothing.
func (l *launcher) settle(link *link) int {
	if peer, err := link.conn.Peer(); err == nil && int(peer.Pid) != l.pid {
		l.giveUp()
		return 0
	}
	return l.pid
}

// giveUp ends the host that was started and has not answered. No control plane has reached it, so it has no containers.
func (l *launcher) giveUp() {
	if pid := l.pid; pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		// A process that is stuck in the kernel must not hold up this one.
		go func() { _, _ = syscall.Wait4(pid, nil, 0, nil) }()
	}
}

// isLack reports whether a process cannot be started at the moment. That is no refusal: it may be possible later.
func isLack(err error) bool {
	return slices.ContainsFunc([]error{unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE, unix.ETXTBSY},
		func(lack error) bool { return errors.Is(err, lack) })
}

func (l *launcher) launch(runDir string) error {
	if l.tried >= len(l.ways) {
		_ = rundir.Remove(runDir, host.LogName) // It stays where a former host has left its journal.
		return fmt.Errorf("%w: %s", errNoIsolationLevel, l.why)
	}
	config := host.Config{
		Dir: l.config.Dir, RunDir: runDir, StartTimeout: l.config.StartTimeout, IdleExit: l.config.IdleExit,
		NoCgroups: l.config.NoCgroups, PodMaxPIDs: l.config.PodMaxPIDs,
	}
	cmd, err := l.ways[l.tried](l, &config)
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

// start starts a host, in a user namespace if it is to have one from its beginning.
func start(cmd *exec.Cmd, config host.Config) error {
	if config.Outside == nil || config.Relay {
		return cmd.Start()
	}
	return userns.Own().Start(cmd)
}

// lastLine reads no more of the file than a line may be long.
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

// reap takes the exit status of a host that this process started, so that it does not stay as a zombie. A pid of 0 is
// a host that another process started.
func reap(pid int) {
	if pid != 0 {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
}
