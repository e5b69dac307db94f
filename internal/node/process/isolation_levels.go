package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/stint-dev/stint/internal/node/process/host"
	"github.com/stint-dev/stint/internal/node/process/stage"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/userns"
)

// isolationLevel returns the command that starts a host at one isolation level. It completes the config.
type isolationLevel func(l *launcher, config *host.Config) (*exec.Cmd, error)

// isolationLevels lists the levels that this user may have on this machine, the best first.
func isolationLevels(config Config) []isolationLevel {
	var levels []isolationLevel
	namespaces := os.Geteuid() != 0 && !config.NoNamespaces && stage.Supported
	if hasSystemd() && !config.NoCgroups {
		levels = append(levels, func(l *launcher, c *host.Config) (*exec.Cmd, error) { return l.inScope(c, namespaces) })
	}
	if namespaces {
		levels = append(levels,
			func(l *launcher, c *host.Config) (*exec.Cmd, error) { return l.namespaced(c, true) },
			func(l *launcher, c *host.Config) (*exec.Cmd, error) { return l.namespaced(c, false) })
	}
	return append(levels, (*launcher).plain)
}

func hasSystemd() bool {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return false
	}
	_, err := exec.LookPath("systemd-run")
	return err == nil
}

func (l *launcher) command(config *host.Config, wrapper ...string) (*exec.Cmd, error) {
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
func (l *launcher) plain(config *host.Config) (*exec.Cmd, error) {
	switch {
	case l.config.NoNamespaces:
		config.WhyNoMount = "namespaces are switched off"
	case os.Geteuid() != 0 && !stage.Supported:
		config.WhyNoMount = "without root this works on amd64 and arm64 only"
	case os.Geteuid() != 0:
		config.WhyNoMount = "this machine lets only root mount (user namespaces are not possible): " + l.why + userns.Restriction()
	}
	return l.command(config)
}

// inScope starts the host in a systemd scope of its own, with a delegated cgroup, so that it does not end when systemd ends
// the server.
func (l *launcher) inScope(config *host.Config, namespaced bool) (*exec.Cmd, error) {
	config.OwnScope = true
	words := []string{"systemd-run", "--scope", "--quiet", "--collect", "-p", "Delegate=yes"}
	if os.Geteuid() != 0 {
		words = append(words, "--user")
	}
	if namespaced {
		// systemd must be asked from outside of the user namespace, where this process has another user id.
		config.Relay = true
		setUser(config)
	}
	return l.command(config, append(words, "--")...)
}

// namespaced starts the host in a user namespace where it may mount. If pids, it is also the first process of a pid
// namespace, so that the kernel kills the containers when it ends.
func (l *launcher) namespaced(config *host.Config, pids bool) (*exec.Cmd, error) {
	config.PIDNamespace = pids
	setUser(config)
	cmd, err := l.command(config)
	if err == nil {
		unshare(cmd, pids)
	}
	return cmd, err
}

// setUser sets which user root of the host's user namespace is outside of it, and how many users the namespace has.
func setUser(config *host.Config) {
	ids := userns.Own()
	config.Outside = &runtime.User{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
	config.IDs = uint32(ids.Count())
	if ids.SingleIDReason != nil {
		config.WhyOneID = ids.SingleIDReason.Error()
	}
}

// unshare makes cmd start in new namespaces, which belong to its user namespace.
func unshare(cmd *exec.Cmd, pids bool) {
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS
	if pids {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWPID
	}
}

// relay starts the host in a user namespace, in the scope that systemd has made for this process. When the host answers,
// the control plane kills the relay.
func relay(config host.Config) int {
	config.Relay, config.PIDNamespace = false, true
	arg, err := json.Marshal(config)
	if err == nil {
		cmd := exec.Command(os.Args[0], hostCommand, string(arg))
		cmd.Dir, cmd.Stdout, cmd.Stderr = "/", os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		unshare(cmd, true)
		if err = userns.Own().Start(cmd); err == nil {
			err = cmd.Wait()
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return host.ExitNoNamespaces
	}
	return 0
}
