package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/process/stage"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// podPIDs are the pid namespaces of pods whose containers share one. A namespace ends with the last container that is in it, and the kernel
// ends what is left there.
type podPIDs struct {
	processes *processTree
	proc      *os.File
	// stage is an empty directory, where the root directory of a first process is put together.
	stage string
	// pause is the program of the first process; nil if there is none, for the reason whyNoPause.
	pause      *os.File
	whyNoPause error
	// lastCapability is the last of those that the first process gives up, lastID the user that it becomes.
	lastCapability uintptr
	lastID         uint32
	singleID       bool

	mu sync.Mutex
	of map[types.UID]*podPID
}

// podPID is the pid namespace of a pod.
type podPID struct {
	// first is process 1; nil if it could not be started.
	first *stage.Child
	// containers is how many are in it, or are being started.
	containers int
}

func openPodPIDs(b *Sandbox) (*podPIDs, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	p := &podPIDs{
		processes: b.processes, proc: proc, stage: filepath.Join(b.config.StateDir, "stage"), of: map[types.UID]*podPID{},
		lastCapability: gatherChildFacts().lastCapability, lastID: b.users.last(), singleID: b.users.hasSingleID(),
	}
	p.pause, p.whyNoPause = newPause()
	return p, nil
}

// enter returns a pidfd of the pod's process 1, which the caller closes. The container leaves the namespace when it has ended.
func (p *podPIDs) enter(pod types.UID, network *os.File) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ns := p.of[pod]
	if ns == nil {
		ns = &podPID{}
		p.of[pod] = ns
	}
	ns.containers++
	fd, err := p.open(ns, network)
	if err != nil {
		p.drop(pod)
		return -1, fmt.Errorf("make the pid namespace that the containers of the pod share: %w", err)
	}
	return fd, nil
}

// open starts process 1 if there is none. If it was killed, the kernel has killed the containers with it, and the next ones get another.
func (p *podPIDs) open(ns *podPID, network *os.File) (int, error) {
	if ns.first != nil && hasEnded(ns.first) {
		p.end(ns.first)
		ns.first = nil
	}
	if ns.first == nil {
		first, err := p.start(network)
		if err != nil {
			return -1, err
		}
		ns.first = first
	}
	return duplicate(ns.first.PIDFD)
}

// leave ends the namespace if no other container is in it.
func (p *podPIDs) leave(pod types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(pod)
}

// drop is leave for a caller that holds p.mu.
func (p *podPIDs) drop(pod types.UID) {
	ns := p.of[pod]
	if ns == nil {
		return // The pod was removed.
	}
	if ns.containers--; ns.containers > 0 {
		return
	}
	if ns.first != nil {
		p.end(ns.first)
	}
	delete(p.of, pod)
}

// start makes a pid namespace. Its first process ignores SIGCHLD, so that the kernel reaps orphans, and cannot be killed from inside.
// Containers that may trace it gain nothing by that, as it gives up all it has.
func (p *podPIDs) start(network *os.File) (*stage.Child, error) {
	if p.whyNoPause != nil {
		return nil, p.whyNoPause
	}
	filter, err := pauseFilter()
	if err != nil {
		return nil, err
	}
	c := p.firstProgram(network, filter)
	var first *stage.Child
	_, err = p.processes.fork(func() (pid int, err error) {
		if first, err = stage.Start(c, unix.CLONE_NEWPID|unix.CLONE_NEWNS|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS, -1); err == nil {
			pid = first.PID
		}
		return pid, err
	})
	if err != nil {
		return nil, err
	}
	if err := first.Wait(); err != nil {
		p.processes.forget(first.PID)
		unix.Close(first.PIDFD)
		return nil, err
	}
	return first, nil
}

func (p *podPIDs) firstProgram(network *os.File, filter []runtime.Instruction) *stage.Program {
	c := &child{
		Program: &stage.Program{}, facts: childFacts{lastCapability: p.lastCapability}, singleID: p.singleID,
		user:      runtime.User{UID: p.lastID, GID: p.lastID},
		container: &runtime.Container{NoNewPrivileges: true, Root: &runtime.Root{Seccomp: filter}},
	}
	c.detach()
	ignore := make([]byte, 32)
	ignore[0] = 1
	c.Do("ignore SIGCHLD", unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), c.Bytes(ignore), 0, signalSetSize)
	c.enterNetwork(network)
	c.enterEmptyRoot(p.stage)
	// No descriptor is left when the program is executed.
	c.Do("open the program", unix.SYS_DUP3, c.FD(int(p.pause.Fd())), 0, unix.O_CLOEXEC)
	c.CloseFrom(1)
	c.becomeUser()
	header := binary.NativeEndian.AppendUint32(nil, unix.LINUX_CAPABILITY_VERSION_3)
	c.Do("drop all capabilities", unix.SYS_CAPSET, c.Bytes(append(header, 0, 0, 0, 0)), c.Bytes(make([]byte, 2*12)))
	c.filter()
	c.Do(stepRunProgram, unix.SYS_EXECVEAT, 0, c.String(""), c.Strings([]string{"pause"}), c.Strings(nil), unix.AT_EMPTY_PATH)
	return c.Program
}

// enterEmptyRoot leaves the process with a mount namespace of one empty directory.
func (c *child) enterEmptyRoot(stage string) {
	const flags = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	const step = "enter an empty directory"
	here := c.String(".")
	c.Do(step, unix.SYS_MOUNT, c.String("tmpfs"), c.String(stage), c.String("tmpfs"), flags, c.String("mode=0555"))
	c.Do(step, unix.SYS_CHDIR, c.String(stage))
	c.Do(step, unix.SYS_PIVOT_ROOT, here, here)
	c.Do(step, unix.SYS_UMOUNT2, here, unix.MNT_DETACH)
	c.Do(step, unix.SYS_CHDIR, c.String("/"))
}

func hasEnded(c *stage.Child) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(c.PIDFD), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// killTree kills orphans of a container, whose parent is the pod's process 1, and reports whether some may be left.
func (p *podPIDs) killTree(pod types.UID, of traces) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	ns := p.of[pod]
	if ns == nil || ns.first == nil {
		return false
	}
	return of.killBelow(ns.first.PID)
}

// mountNamespace returns the inode of the mount namespace of a process or thread, by its name in /proc; 0 if it cannot be seen.
func (p *podPIDs) mountNamespace(name string) uint64 {
	var stat unix.Stat_t
	if err := unix.Fstatat(int(p.proc.Fd()), name+"/ns/mnt", &stat, 0); err != nil {
		return 0
	}
	return stat.Ino
}

// traces are what shows that a process belongs to a container which shares its process ids with others. It can rid itself of its mark, and
// of its mount namespace if it may make another one.
type traces struct {
	mark string
	// mounts is the inode of the container's mount namespace; 0 if it is not known.
	mounts uint64
}

func (t traces) isOn(pid int, e environ) bool {
	if e.has(map[string]bool{t.mark: true}) {
		return true
	}
	var stat unix.Stat_t
	return t.mounts != 0 && unix.Stat(procDir(pid)+"/ns/mnt", &stat) == nil && stat.Ino == t.mounts
}

// killBelow kills the descendants of a process 1 that have the traces, and reports whether some may be left.
func (t traces) killBelow(first int) bool {
	dead := map[int]bool{}
	for range maxPasses {
		if !t.killOrphans(first, dead) {
			return false
		}
	}
	return true
}

// killOrphans reports whether it may have missed one: the child of a process that was killed or has ended since the last pass. The newest
// come first, as they may fork and end at once.
func (t traces) killOrphans(first int, dead map[int]bool) (missed bool) {
	for _, pid := range slices.Backward(childrenOf(first)) {
		if dead[pid] {
			continue
		}
		missed = t.killTree(pid) || missed
		dead[pid] = statOf(pid).dead
		missed = missed || dead[pid]
	}
	return missed
}

// killTree kills the process and its descendants that have the traces, and reports whether there may have been any. One that is being
// loaded has no environment yet.
func (t traces) killTree(pid int) (any bool) {
	e, s := environAndStat(pid)
	any = t.isOn(pid, e) && killIf(pid, func() bool { return t.isOn(pid, environOf(pid)) })
	if !s.dead {
		any = any || e.isMissing(s)
	}
	for _, child := range childrenOf(pid) {
		any = t.killTree(child) || any
	}
	return any
}

// remove kills all processes in the pid namespace of a pod.
func (p *podPIDs) remove(pod types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ns := p.of[pod]; ns != nil && ns.first != nil {
		p.end(ns.first)
	}
	delete(p.of, pod)
}

func (p *podPIDs) end(first *stage.Child) {
	_ = unix.PidfdSendSignal(first.PIDFD, unix.SIGKILL, nil, 0)
	unix.Close(first.PIDFD)
	for {
		if _, err := unix.Wait4(first.PID, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.processes.forget(first.PID)
}

func (p *podPIDs) close() {
	for pod := range p.of {
		p.remove(pod)
	}
	p.proc.Close()
	if p.pause != nil {
		p.pause.Close()
	}
}
