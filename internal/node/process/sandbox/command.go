package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// StartError is a fault of the container, not of the machine: trying again would not help.
type StartError struct{ Reason string }

func (e *StartError) Error() string { return e.Reason }

func startErrorf(format string, args ...any) error {
	return &StartError{Reason: fmt.Sprintf(format, args...)}
}

// faultOf makes a StartError of err, unless the machine lacks resources.
func faultOf(err error) error {
	if isLack(err) {
		return err
	}
	return &StartError{Reason: err.Error()}
}

// defaultPath is where programs are looked up when the container has no PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// messageVariable has the path of the termination message file, in containers that see no file at their termination
// message path.
const messageVariable = "STINT_TERMINATION_LOG"

// environment is the container's environment with defaults for PATH, HOME and HOSTNAME, and with its mark.
func (b *Sandbox) environment(c *runtime.Container, messagePath string) []string {
	env := append(make([]string, 0, len(c.Env)+5), c.Env...)
	env = withDefault(env, "PATH", defaultPath)
	if home := os.Getenv("HOME"); c.User == nil && home != "" {
		env = withDefault(env, "HOME", home)
	} else {
		env = withDefault(env, "HOME", "/")
	}
	if c.Hostname != "" {
		env = withDefault(env, "HOSTNAME", c.Hostname)
	}
	env = withTerminal(env, c.TTY)
	if messagePath != "" {
		env = append(env, messageVariable+"="+messagePath)
	}
	return append(env, mark(b.config.Name, c.ID))
}

// withTerminal adds the type of the terminal, if there is one.
func withTerminal(env []string, terminal bool) []string {
	if terminal {
		return withDefault(env, "TERM", "xterm")
	}
	return env
}

func withDefault(env []string, name, value string) []string {
	if _, ok := lookup(env, name); ok {
		return env
	}
	return append(env, name+"="+value)
}

func lookup(env []string, name string) (string, bool) {
	for _, v := range env {
		if key, value, _ := strings.Cut(v, "="); key == name {
			return value, true
		}
	}
	return "", false
}

// program finds the program that command[0] names, as the calling thread sees the file system. Where ends the error text.
func program(command, env []string, dir, where string) (string, error) {
	if len(command) == 0 || command[0] == "" {
		return "", startErrorf("the container has no command")
	}
	name := command[0]
	if filepath.IsAbs(name) {
		switch reason := whyNotExecutable(name); reason {
		case "":
			return name, nil
		case noSuchFile:
			return "", startErrorf("cannot run %q: %s %s", name, reason, where)
		default:
			return "", startErrorf("cannot run %q: %s", name, reason)
		}
	}
	if strings.Contains(name, "/") {
		return relativeProgram(name, dir, where)
	}
	path, _ := lookup(env, "PATH")
	found := ""
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		at := filepath.Join(folder, name)
		reason := whyNotExecutable(at)
		if reason == "" {
			return at, nil
		}
		if reason != noSuchFile && found == "" {
			found = fmt.Sprintf("%s: %s", at, reason)
		}
	}
	if found != "" {
		return "", startErrorf("cannot run %q: %s", name, found)
	}
	return "", startErrorf("cannot run %q: there is no such program in PATH", name)
}

func relativeProgram(name, dir, where string) (string, error) {
	at := filepath.Join(dir, name)
	switch reason := whyNotExecutable(at); reason {
	case "":
		return at, nil
	case noSuchFile:
		return "", startErrorf("cannot run %q: there is no %s %s; the container starts in %s: write the whole path, or set workingDir",
			name, at, where, dir)
	default:
		return "", startErrorf("cannot run %q: %s: %s", name, at, reason)
	}
}

// Values of where.
const (
	onThisMachine = "on this machine"
	inTheImage    = "in the image"
)

const noSuchFile = "no such file"

func whyNotExecutable(path string) string {
	var stat unix.Stat_t
	switch err := unix.Stat(path, &stat); {
	case err == unix.ENOENT || err == unix.ENOTDIR:
		return noSuchFile
	case err != nil:
		return err.Error()
	case stat.Mode&unix.S_IFMT == unix.S_IFDIR:
		return "it is a directory"
	case stat.Mode&0o111 == 0:
		return "it is not executable (chmod +x)"
	}
	return ""
}

// workingDir checks that a process can start in dir, as the calling thread sees the file system.
func workingDir(dir string) (string, error) {
	if dir == "" {
		return "/", nil
	}
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		return "", startErrorf("working directory %s does not exist on this machine", dir)
	case err != nil:
		return "", startErrorf("working directory: %v", err)
	case !info.IsDir():
		return "", startErrorf("working directory %s is not a directory", dir)
	case !filepath.IsAbs(dir):
		return "", startErrorf("working directory %s must be an absolute path", dir)
	}
	return dir, nil
}
