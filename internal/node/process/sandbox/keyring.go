package sandbox

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// JoinNewSession gives the calling thread a session keyring of its own, which is empty. Where the kernel has no keyrings, or an outer
// container forbids them, there is nothing to leave.
func JoinNewSession() {
	_, _, _ = unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0)
}

// joinNewSession gives the process a session keyring of its own. A user may have 200 keys, and the kernel frees them late: beyond that the
// process may not use keys. Without the right to load a filter it has the keyring of the thread,
// which it shares with other containers of that kind.
func (c *child) joinNewSession() {
	c.Do("make a session keyring", unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0)
	if filter, err := withoutKeys(); err == nil {
		c.Else(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, c.instructions(filter))
	}
}

// keepsSession reports whether the container has the session keyring of this process.
func (b *Sandbox) keepsSession(c *runtime.Container) bool {
	return b.config.KeepSessionKeyring && c.Root == nil && (c.User == nil || b.users.isSelf(c.User))
}

// withoutKeys is a filter for a machine without keys.
var withoutKeys = sync.OnceValues(func() ([]runtime.Instruction, error) {
	return compile(seccomp.Profile{
		Default:         seccomp.Allow,
		ArchitectureMap: seccomp.RuntimeDefault().ArchitectureMap,
		Rules:           []seccomp.Rule{{Names: []string{"add_key", "keyctl", "request_key"}, Action: seccomp.Errno(unix.ENOSYS)}},
	})
})

// compile compiles a filter for this machine.
func compile(p seccomp.Profile) ([]runtime.Instruction, error) {
	machine, err := seccomp.ThisHost()
	if err != nil {
		return nil, err
	}
	instructions, err := p.Compile(nil, machine)
	filter := make([]runtime.Instruction, 0, len(instructions))
	for _, i := range instructions {
		filter = append(filter, runtime.Instruction{Code: i.Code, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	return filter, err
}
