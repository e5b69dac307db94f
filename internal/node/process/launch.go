package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/host"
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
	return true, host.Main(config)
}

// errNoRung: every way to start a host has failed.
var errNoRung = errors.New("it cannot be started")

// launcher starts a host process, the best way first.
type launcher struct {
	config Config
	// tried counts the rungs that have failed.
	tried   int
	why     string
	pid     int
	pause   time.Duration
	started time.Time
}

// rungPatience is how long one way may take before the next one is tried.
const rungPatience = 8 * time.Second

// advance waits a little for the host that was started last, or starts one.
func (l *launcher) advance(ctx context.Context, runDir string) error {
	if l.pid == 0 {
		return l.launch(runDir)
	}
	status, ended := l.poll()
	if !ended {
		l.pause = min(max(2*l.pause, time.Millisecond), 5*time.Millisecond)
		select {
		case <-ctx.Done():
			return errors.New("the host process does not answer")
		case <-time.After(l.pause):
			return nil
		}
	}
	l.pid, l.pause = 0, 0
	if status.ExitStatus() == host.ExitTaken || status.ExitStatus() == 0 {
		return nil // another one was there, or has just left
	}
	l.why = lastLine(filepath.Join(runDir, logName))
	l.tried++
	return fmt.Errorf("the host process ended at once: %s", l.why)
}

// poll tells whether the host has ended. One that does not answer in time is ended if there is another way to try.
func (l *launcher) poll() (status syscall.WaitStatus, ended bool) {
	pid, err := syscall.Wait4(l.pid, &status, syscall.WNOHANG, nil)
	if err != nil || pid != 0 {
		return status, true
	}
	if time.Since(l.started) < rungPatience || l.tried+1 >= len(rungs(l.config)) {
		return status, false
	}
	_ = syscall.Kill(l.pid, syscall.SIGKILL)
	_, _ = syscall.Wait4(l.pid, &status, 0, nil)
	return status, true
}

// logName is the file in the run directory that holds what the host has to complain about.
const logName = "host.log"

func (l *launcher) launch(runDir string) error {
	ways := rungs(l.config)
	if l.tried >= len(ways) {
		os.Remove(filepath.Join(runDir, logName))
		os.Remove(runDir) // unless a former host has left its journal there
		return fmt.Errorf("%w: %s", errNoRung, l.why)
	}
	config := host.Config{
		Dir: l.config.Dir, RunDir: runDir, IdleExit: l.config.IdleExit, NoCgroups: l.config.NoCgroups,
	}
	cmd, err := ways[l.tried](l, config)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(runDir, logName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", out, out
	if err := cmd.Start(); err != nil {
		l.why = err.Error()
		l.tried++
		return err
	}
	l.pid, l.started = cmd.Process.Pid, time.Now()
	return cmd.Process.Release()
}

// rung is one way to start the host.
type rung func(l *launcher, config host.Config) (*exec.Cmd, error)

// rungs lists the ways for this user on this machine, best first.
func rungs(config Config) []rung {
	var ways []rung
	rootless := os.Geteuid() != 0
	if hasSystemd() && !config.NoCgroups {
		ways = append(ways, func(l *launcher, c host.Config) (*exec.Cmd, error) {
			return l.inScope(c, rootless && !l.config.NoNamespaces)
		})
	}
	if rootless && !config.NoNamespaces {
		ways = append(ways,
			func(l *launcher, c host.Config) (*exec.Cmd, error) { return l.namespaced(c, true) },
			func(l *launcher, c host.Config) (*exec.Cmd, error) { return l.namespaced(c, false) })
	}
	return append(ways, (*launcher).plain)
}

func hasSystemd() bool {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return false
	}
	_, err := exec.LookPath("systemd-run")
	return err == nil
}

func (l *launcher) command(config host.Config, wrapper ...string) (*exec.Cmd, error) {
	arg, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	words := append(wrapper, l.config.Executable, hostCommand, string(arg))
	cmd := exec.Command(words[0], words[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

// plain starts the host in its own session.
func (l *launcher) plain(config host.Config) (*exec.Cmd, error) {
	switch {
	case l.config.NoNamespaces:
		config.WhyNoMount = "namespaces are switched off"
	case os.Geteuid() != 0:
		config.WhyNoMount = "this machine's kernel lets only root mount (user namespaces are not allowed): " + l.why
	}
	return l.command(config)
}

// inScope starts the host in a systemd scope of its own, with a cgroup that is its to divide, so that it does not end
// when systemd ends the server.
func (l *launcher) inScope(config host.Config, namespaced bool) (*exec.Cmd, error) {
	config.OwnScope = true
	config.Namespaced = namespaced
	words := []string{"systemd-run", "--scope", "--quiet", "--collect", "-p", "Delegate=yes"}
	if os.Geteuid() != 0 {
		words = append(words, "--user")
	}
	cmd, err := l.command(config, append(words, "--")...)
	if err == nil && namespaced {
		// No pid namespace: systemd is told the number of this process.
		ownUser(cmd.SysProcAttr)
	}
	return cmd, err
}

// namespaced starts the host in a user namespace where it may mount. In a pid namespace too it is the first process,
// and the kernel ends the containers when it ends.
func (l *launcher) namespaced(config host.Config, pids bool) (*exec.Cmd, error) {
	config.Namespaced = true
	config.PIDNamespace = pids
	cmd, err := l.command(config)
	if err != nil {
		return nil, err
	}
	ownUser(cmd.SysProcAttr)
	if pids {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWPID
	}
	return cmd, nil
}

// ownUser adds a user namespace that maps the user to itself. The process keeps over the exec what mounting takes.
func ownUser(attr *syscall.SysProcAttr) {
	uid, gid := os.Geteuid(), os.Getegid()
	attr.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT}
}

func lastLine(path string) string {
	data, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return lines[len(lines)-1]
}

// reap takes the exit status of a host that this process started, so that it does not stay as a zombie. A pid of 0 is
// a host that another process started.
func reap(pid int) {
	if pid != 0 {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
}
