package seccomp

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Action is what the kernel does with a call, in the kernel's own encoding: the value that a filter returns.
type Action uint32

// The actions without a parameter. Errno makes the others.
const (
	Allow       Action = unix.SECCOMP_RET_ALLOW
	Log         Action = unix.SECCOMP_RET_LOG // allow, and write an audit record
	Trap        Action = unix.SECCOMP_RET_TRAP
	KillThread  Action = unix.SECCOMP_RET_KILL_THREAD
	KillProcess Action = unix.SECCOMP_RET_KILL_PROCESS
)

// largestErrno is the largest error number that the kernel can return to a caller.
const largestErrno = 4095

// Errno is the action that fails a call with an error number.
func Errno(number unix.Errno) Action {
	return unix.SECCOMP_RET_ERRNO | Action(number)&unix.SECCOMP_RET_DATA
}

// permissive reports whether the call is executed.
func (a Action) permissive() bool { return a == Allow || a == Log }

// stricter reports whether the kernel would apply a if one filter returned a and another one b.
func (a Action) stricter(b Action) bool {
	return int32(a&unix.SECCOMP_RET_ACTION_FULL) < int32(b&unix.SECCOMP_RET_ACTION_FULL)
}

// String names the action as profiles do, with the error number of ERRNO.
func (a Action) String() string {
	for name, action := range actionNames {
		if action == a && name != "SCMP_ACT_KILL" {
			return name
		}
	}
	if a&unix.SECCOMP_RET_ACTION_FULL == unix.SECCOMP_RET_ERRNO {
		return fmt.Sprintf("SCMP_ACT_ERRNO(%d)", uint32(a&unix.SECCOMP_RET_DATA))
	}
	return fmt.Sprintf("action %#x", uint32(a))
}

// actionNames holds the actions of profiles that take no parameter.
var actionNames = map[string]Action{
	"SCMP_ACT_ALLOW":        Allow,
	"SCMP_ACT_LOG":          Log,
	"SCMP_ACT_TRAP":         Trap,
	"SCMP_ACT_KILL":         KillThread, // the old name, from before the kernel could kill a whole process
	"SCMP_ACT_KILL_THREAD":  KillThread,
	"SCMP_ACT_KILL_PROCESS": KillProcess,
}

// refusedActions holds actions of the specification that have no meaning here, and why.
var refusedActions = map[string]string{
	"SCMP_ACT_TRACE":  "needs a tracer on every container, and there is none",
	"SCMP_ACT_NOTIFY": "needs an agent that decides on each call, and there is none",
}

// parseAction reads an action; errno is the field with the error number, nil where it is absent.
func parseAction(name string, errno *uint) (Action, error) {
	if name == "SCMP_ACT_ERRNO" {
		return parseErrno(errno)
	}
	if errno != nil {
		return 0, fmt.Errorf("%s takes no error number", name)
	}
	if reason, refused := refusedActions[name]; refused {
		return 0, fmt.Errorf("%s is not supported: it %s", name, reason)
	}
	action, known := actionNames[name]
	if !known {
		return 0, fmt.Errorf("unknown action %q", name)
	}
	return action, nil
}

// parseErrno is the action ERRNO, whose default error number is EPERM.
func parseErrno(number *uint) (Action, error) {
	if number == nil {
		return Errno(unix.EPERM), nil
	}
	if *number > largestErrno {
		return 0, fmt.Errorf("error number %d is larger than %d", *number, largestErrno)
	}
	return Errno(unix.Errno(*number)), nil
}
