package sandbox

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"unique"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/stage"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// joining is what is kept of a container for commands that join it.
type joining struct {
	// container has neither mounts nor files, and no filter.
	container runtime.Container
	// filter is the seccomp filter, which many containers share.
	filter unique.Handle[string]
	env    []string
	// owner is its user, as this process sees it, users the user namespace that its processes enter, if any.
	owner *runtime.User
	users *os.File
}

func (l *launch) joining() joining {
	c := l.container
	j := joining{env: l.env, owner: l.owner(), users: l.users}
	j.container = runtime.Container{
		ID: c.ID, WorkingDir: c.WorkingDir, Hostname: c.Hostname, User: c.User, NoNewPrivileges: c.NoNewPrivileges, Network: c.Network,
	}
	if c.Root == nil {
		j.users = l.sandbox.users.self
		return j
	}
	root := *c.Root
	j.filter = packFilter(root.Seccomp)
	root.Seccomp, root.Files, root.Sysctls = nil, nil, nil
	j.container.Root = &root
	return j
}

func packFilter(list []runtime.Instruction) unique.Handle[string] {
	var packed []byte
	for _, i := range list {
		packed = binary.NativeEndian.AppendUint16(packed, i.Code)
		packed = append(packed, i.Jt, i.Jf)
		packed = binary.NativeEndian.AppendUint32(packed, i.K)
	}
	return unique.Make(string(packed))
}

func unpackFilter(packed unique.Handle[string]) []runtime.Instruction {
	const size = 8
	var list []runtime.Instruction
	for data := []byte(packed.Value()); len(data) >= size; data = data[size:] {
		list = append(list, runtime.Instruction{
			Code: binary.NativeEndian.Uint16(data), Jt: data[2], Jf: data[3], K: binary.NativeEndian.Uint32(data[4:]),
		})
	}
	return list
}

// namespaces are those that a process enters to join the container, besides that of its process ids.
func (p *Process) namespaces() uintptr {
	own := p.viewNamespaces()
	if p.join.container.Network != nil {
		own |= unix.CLONE_NEWNET
	}
	return own
}

func (p *Process) viewNamespaces() uintptr {
	switch {
	case p.root != nil:
		return unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	case !p.sandbox.views.usable() && p.join.container.Hostname == "":
		return 0
	case !p.sandbox.views.usable():
		return unix.CLONE_NEWUTS
	case p.join.container.Hostname == "":
		return unix.CLONE_NEWNS
	}
	return unix.CLONE_NEWNS | unix.CLONE_NEWUTS
}

// joinProgram lists what a process does to run a command in the container.
func (p *Process) joinProgram(streams childStreams, cgroups *cgroupView, args []string) *stage.Program {
	container := p.join.container
	container.Command = args
	c := &child{Program: stage.NewApart(), container: &container, facts: p.sandbox.child, singleID: p.sandbox.users.hasSingleID()}
	if container.User != nil {
		c.user = *container.User
	}
	if p.root != nil && !container.Root.HostPID {
		c.EnterPIDs(p.fd)
	}
	c.detach()
	if !p.sandbox.keepsSession(&container) {
		c.joinNewSession()
	}
	if cgroups != nil {
		c.enterCgroups(cgroups)
	}
	if own := p.namespaces(); own != 0 {
		c.Do("join the container", unix.SYS_SETNS, c.FD(p.fd), own)
	}
	c.setStreams(streams)
	if p.join.users != nil {
		c.enterUsers(p.join.users)
	}
	c.CloseFrom(firstOther)
	c.becomeJoined(p)
	dir := container.WorkingDir
	if dir == "" {
		dir = "/"
	}
	c.Do(stepEnterDir+" "+dir, unix.SYS_CHDIR, c.String(dir))
	if container.Root != nil && container.NoNewPrivileges {
		c.filter()
	}
	c.unblockSignals()
	env := withTerminal(p.join.env, streams.terminal)
	c.Run(stepRunProgram, programPaths(args[0], env, dir), args, env)
	return c.Program
}

// becomeJoined gives the process the rights that the container's main process was started with.
func (c *child) becomeJoined(p *Process) {
	if c.container.Root != nil {
		root := *c.container.Root
		root.Seccomp = unpackFilter(p.join.filter)
		c.container.Root = &root
		c.becomeUser()
		return
	}
	if c.container.User != nil && p.sandbox.info.CanSetUser {
		c.setIDs()
	}
	c.lock()
	c.limitFiles(p.sandbox.fileLimit)
}

// programPaths are the files that may be the program of that name, in the order of PATH.
func programPaths(name string, env []string, dir string) []string {
	if strings.Contains(name, "/") {
		return []string{name}
	}
	path, _ := lookup(env, "PATH")
	var paths []string
	seen := map[string]bool{}
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		if at := filepath.Join(folder, name); !seen[at] {
			seen[at] = true
			paths = append(paths, at)
		}
	}
	return paths
}
