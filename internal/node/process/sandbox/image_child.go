package sandbox

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/rootfs"
	"github.com/stint-dev/stint/internal/node/process/stage"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// Names of the steps of a child that its parent compares with.
const (
	stepMountProc  = "mount /proc"
	stepRunProgram = "run the program"
	stepEnterDir   = "enter the working directory"
)

// childFacts are properties of this machine on which the steps of a child depend.
type childFacts struct {
	lastCapability uintptr
	// Names in /proc of files and directories that are masked, and of what is read-only.
	masked, emptied, readOnly []string
	// unified is whether the machine has a single cgroup tree, of version 2.
	unified bool
}

// Files and directories in /proc that show the machine or change it: those that are hidden from containers, and those that
// are read-only. They are containerd's.
var (
	maskedProc = []string{"acpi", "asound", "interrupts", "kcore", "keys", "latency_stats", "sched_debug", "scsi",
		"timer_list", "timer_stats"}
	readOnlyProc = []string{"bus", "fs", "irq", "sys", "sysrq-trigger"}
)

func gatherChildFacts() childFacts {
	f := childFacts{lastCapability: 40}
	if text, err := os.ReadFile("/proc/sys/kernel/cap_last_cap"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			f.lastCapability = uintptr(n)
		}
	}
	for _, name := range maskedProc {
		switch info, err := os.Lstat(filepath.Join("/proc", name)); {
		case err != nil:
		case info.IsDir():
			f.emptied = append(f.emptied, name)
		default:
			f.masked = append(f.masked, name)
		}
	}
	for _, name := range readOnlyProc {
		if exists(filepath.Join("/proc", name)) {
			f.readOnly = append(f.readOnly, name)
		}
	}
	var at unix.Statfs_t
	f.unified = unix.Statfs(cgroupMount, &at) == nil && at.Type == unix.CGROUP2_SUPER_MAGIC
	return f
}

const cgroupMount = "/sys/fs/cgroup"

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// childSpec is what the thread has prepared for the child.
type childSpec struct {
	path, dir string
	env       []string
	streams   childStreams
}

// child lists what the first process of a container does.
type child struct {
	*stage.Program
	container *runtime.Container
	facts     childFacts
	user      runtime.User
	// singleID is whether the user namespace has no user but root.
	singleID bool
}

func (l *launch) childProgram(spec childSpec) *stage.Program {
	c := &child{Program: l.newProgram(), container: l.container, facts: l.sandbox.child, singleID: l.sandbox.users.hasSingleID()}
	if l.container.User != nil {
		c.user = *l.container.User
	}
	c.detach()
	c.joinNewSession()
	if l.cgroups != nil {
		c.enterCgroups(l.cgroups)
	}
	c.enterNetwork(l.network)
	c.enterNamespaces()
	c.mount(l.root.Points(), l.volumes)
	if l.cgroups != nil {
		c.mountCgroups(l.cgroups)
	}
	c.setStreams(spec.streams)
	if l.users != nil {
		c.enterUsers(l.users)
	}
	c.CloseFrom(firstOther)
	c.becomeUser()
	c.Do(stepEnterDir+" "+spec.dir, unix.SYS_CHDIR, c.String(spec.dir))
	if l.container.NoNewPrivileges {
		c.filter()
	}
	c.execute(spec.path, spec.env)
	return c.Program
}

// execute runs the container's program.
func (c *child) execute(path string, env []string) {
	c.unblockSignals()
	c.Run(stepRunProgram, []string{path}, c.container.Command, env)
}

func (c *child) unblockSignals() {
	c.Do("unblock signals", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, c.Bytes(make([]byte, signalSetSize)), 0, signalSetSize)
}

// signalSetSize is the size of a set of signals for the kernel.
const signalSetSize = 8

// detach makes the process independent of the host: with a session of its own and default signal handling. It dies with the
// host.
func (c *child) detach() {
	c.dieWithHost()
	c.Do("start a session", unix.SYS_SETSID)
	// The host process ignores these signals, and ignored signals stay ignored over an execve.
	byDefault := c.Bytes(make([]byte, 32))
	for _, signal := range []uintptr{uintptr(unix.SIGHUP), uintptr(unix.SIGINT), uintptr(unix.SIGPIPE)} {
		c.Do("reset a signal", unix.SYS_RT_SIGACTION, signal, byDefault, 0, signalSetSize)
	}
}

// enterNamespaces enters a cgroup namespace and sets the host name.
func (c *child) enterNamespaces() {
	c.Do("make a cgroup namespace", unix.SYS_UNSHARE, unix.CLONE_NEWCGROUP)
	if name := c.container.Hostname; name != "" {
		c.Do(fmt.Sprintf("set the host name %q", name), unix.SYS_SETHOSTNAME, c.String(name), uintptr(len(name)))
	}
}

// dieWithHost sets the parent-death signal.
func (c *child) dieWithHost() {
	c.Do("end with the host process", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
}

// credentialsHaveChanged sets again what a change of credentials resets: the parent-death signal, and that the memory, which may
// be that of the host process, is not dumped.
func (c *child) credentialsHaveChanged() {
	c.dieWithHost()
	c.Do("keep the memory from being dumped", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0)
}

// mount mounts file systems of the process's own namespaces. It uses descriptors and names in file systems that only the kernel and Stint
// write to: the paths may lead through volumes, with links that other containers have made.
func (c *child) mount(at *rootfs.Points, volumes []*volume) {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	c.mountIn(at.Proc, ".", stepMountProc, "proc", flags)
	if rootfs.ShowsProc() {
		c.enterDir(at.Dev)
		c.Do("hide the machine's /proc", unix.SYS_UMOUNT2, c.String(rootfs.ProcName()), unix.MNT_DETACH)
		c.Do("hide the machine's /proc", unix.SYS_UNLINKAT, c.FD(at.Dev), c.String(rootfs.ProcName()), unix.AT_REMOVEDIR)
	}
	if !isVolume(volumes, "/dev/mqueue") {
		c.mountIn(at.Dev, "mqueue", "mount /dev/mqueue", "mqueue", flags)
	}
	if c.facts.unified && !isVolume(volumes, cgroupMount) {
		c.mountIn(at.Cgroup, ".", "mount "+cgroupMount, "cgroup2", flags|readOnlyUnless(c.container.Root.Privileged))
	}
	if !c.container.Root.Unmasked {
		c.maskProc(at)
	}
	c.enterDir(at.Root)
}

// maskProc hides and protects what is in /proc.
func (c *child) maskProc(at *rootfs.Points) {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	// The parent of a root directory is the root directory, with what is mounted there.
	c.changeRoot(at.Proc)
	c.Do("enter /proc", unix.SYS_CHDIR, c.String("/.."))
	null := c.String(fmt.Sprintf("self/fd/%d", c.FD(at.Null)))
	for _, name := range c.facts.masked {
		c.Do("hide /proc/"+name, unix.SYS_MOUNT, null, c.String(name), 0, unix.MS_BIND)
	}
	for _, name := range c.facts.emptied {
		c.mountAt(name, "mount /proc/"+name, "tmpfs", flags|unix.MS_RDONLY)
	}
	for _, name := range c.facts.readOnly {
		c.Do("protect /proc/"+name, unix.SYS_MOUNT, c.String(name), c.String(name), 0, unix.MS_BIND|unix.MS_REC)
		c.Do("protect /proc/"+name, unix.SYS_MOUNT, 0, c.String(name), 0, unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY|flags)
	}
	c.changeRoot(at.Root)
}

// isVolume reports whether a volume is mounted at path, where it takes the place of a file system that Stint mounts.
func isVolume(volumes []*volume, path string) bool {
	return slices.ContainsFunc(volumes, func(v *volume) bool { return v.path == path })
}

func (c *child) enterDir(fd int) { c.Do("enter a directory of its root", unix.SYS_FCHDIR, c.FD(fd)) }

func (c *child) changeRoot(fd int) {
	c.enterDir(fd)
	c.Do("change its root directory", unix.SYS_CHROOT, c.String("."))
}

func readOnlyUnless(writable bool) uintptr {
	if writable {
		return 0
	}
	return unix.MS_RDONLY
}

// mountIn mounts a new file system at a name in a directory, and leaves that the working directory.
func (c *child) mountIn(dir int, name, step, kind string, flags uintptr) {
	c.enterDir(dir)
	c.mountAt(name, step, kind, flags)
}

func (c *child) mountAt(name, step, kind string, flags uintptr) {
	c.Do(step, unix.SYS_MOUNT, c.String(kind), c.String(name), c.String(kind), flags)
}

// firstOther is the first descriptor after the standard streams. Those from here on are the host process's. They are closed
// before the working directory is entered, because its path may be /proc/self/fd/N.
const firstOther = 3

// setStreams sets the standard streams, of which the first may be the terminal of the session, and the umask.
func (c *child) setStreams(s childStreams) {
	for to, from := range []int{s.stdin, s.stdout, s.stderr} {
		c.Do("set the standard streams", unix.SYS_DUP3, c.FD(from), uintptr(to), 0)
	}
	if s.terminal {
		c.Do("take the terminal", unix.SYS_IOCTL, 0, unix.TIOCSCTTY, 0)
	}
	c.Do("set the umask", unix.SYS_UMASK, 0o022)
}

// becomeUser drops capabilities and becomes the container's user.
func (c *child) becomeUser() {
	if !c.container.NoNewPrivileges {
		// Without no_new_privs this takes CAP_SYS_ADMIN, which may be dropped below.
		c.filter()
	}
	for n := uintptr(0); n <= c.facts.lastCapability; n++ {
		if c.container.Root.Capabilities&(1<<n) == 0 {
			c.Do("drop a capability", unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, n)
		}
	}
	c.setIDs()
	c.lock()
}

// lock keeps the process from gaining privileges, if its container says so.
func (c *child) lock() {
	if c.container.NoNewPrivileges {
		c.Do("set no_new_privs", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
}

// setIDs makes the process the user's, with the user's groups.
func (c *child) setIDs() {
	if !c.singleID {
		c.Do("set its groups", unix.SYS_SETGROUPS, uintptr(len(c.user.Groups)), c.Groups(c.user.Groups))
	}
	gid, uid := uintptr(c.user.GID), uintptr(c.user.UID)
	c.Do(fmt.Sprintf("become group %d", gid), unix.SYS_SETRESGID, gid, gid, gid)
	c.Do(fmt.Sprintf("become user %d", uid), unix.SYS_SETRESUID, uid, uid, uid)
	c.credentialsHaveChanged()
}

// filter loads the seccomp filter.
func (c *child) filter() {
	instructions := c.container.Root.Seccomp
	if len(instructions) == 0 {
		return
	}
	c.Do("load the seccomp filter", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, uintptr(c.container.Root.SeccompFlags), c.instructions(instructions))
}

// instructions returns an argument that points to a filter.
func (c *child) instructions(list []runtime.Instruction) uintptr {
	filter := make([]unix.SockFilter, 0, min(len(list), math.MaxUint16))
	for _, i := range list {
		filter = append(filter, unix.SockFilter{Code: i.Code, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	return c.Filter(filter)
}
