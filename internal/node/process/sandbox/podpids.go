package sandbox

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/process/stage"
)

// podPIDs are the pid namespaces of pods whose containers share one. A namespace ends with the last container that is in it, and the kernel
// ends what is left there.
type podPIDs struct {
	sandbox *Sandbox
	// proc is the machine's /proc, for threads that do not see it.
	proc *os.File
	// pause is the program of the first process; nil if there is none, for the reason whyNoPause.
	pause      *os.File
	whyNoPause error

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
	p := &podPIDs{sandbox: b, proc: proc, of: map[types.UID]*podPID{}}
	p.pause, p.whyNoPause = newPause()
	return p, nil
}

// enter returns a pidfd of the pod's process 1, which the caller closes. The container leaves the namespace when it has ended.
func (p *podPIDs) enter(t *thread, pod types.UID, network *os.File) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ns := p.of[pod]
	if ns == nil {
		ns = &podPID{}
		p.of[pod] = ns
	}
	ns.containers++
	fd, err := p.open(t, ns, network)
	if err != nil {
		go p.end(p.drop(pod))
		return -1, fmt.Errorf("make the pid namespace that the containers of the pod share: %w", err)
	}
	return fd, nil
}

// open starts process 1 if there is none. If it was killed, the kernel has killed the containers with it, and the next ones get another.
func (p *podPIDs) open(t *thread, ns *podPID, network *os.File) (int, error) {
	if ns.first != nil && hasEnded(ns.first, 0) {
		p.reap(ns.first)
		ns.first = nil
	}
	if ns.first == nil {
		first, err := p.start(t, network)
		if err != nil {
			return -1, err
		}
		ns.first = first
	}
	return duplicate(ns.first.PIDFD)
}

// leave ends the namespace if no other container is in it, and reports whether all processes there have ended in time.
func (p *podPIDs) leave(pod types.UID) bool {
	p.mu.Lock()
	unused := p.drop(pod)
	p.mu.Unlock()
	return p.end(unused)
}

// drop counts one container less, and returns process 1 if it was the last one. The caller holds p.mu.
func (p *podPIDs) drop(pod types.UID) *stage.Child {
	ns := p.of[pod]
	if ns == nil {
		return nil // The pod was removed.
	}
	if ns.containers--; ns.containers > 0 {
		return nil
	}
	delete(p.of, pod)
	return ns.first
}

// start makes a pid namespace. Its first process ignores SIGCHLD, so that the kernel reaps orphans, and cannot be killed from inside.
// Containers that may trace it can have it compute for a second, after which the kernel ends it, and nothing else.
func (p *podPIDs) start(t *thread, network *os.File) (*stage.Child, error) {
	if p.whyNoPause != nil {
		return nil, p.whyNoPause
	}
	filter, err := pauseFilter()
	if err != nil {
		return nil, err
	}
	c := p.firstProgram(network, filter)
	var first *stage.Child
	err = t.outside(func(*thread) error {
		_, err := p.sandbox.processes.fork(func() (pid int, err error) {
			if first, err = stage.Start(c, unix.CLONE_NEWPID|unix.CLONE_NEWNS|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS, -1); err == nil {
				pid = first.PID
			}
			return pid, err
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := first.Wait(context.Background()); err != nil {
		p.reap(first)
		return nil, err
	}
	return first, nil
}

// hasEnded reports whether the process ends within a time.
func hasEnded(c *stage.Child, within time.Duration) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(c.PIDFD), Events: unix.POLLIN}}, int(within.Milliseconds()))
		if err != unix.EINTR {
			return err == nil && n > 0
		}
	}
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

// mountNamespace returns the inode of the mount namespace of the calling thread; 0 if it cannot be seen.
func (p *podPIDs) mountNamespace() uint64 {
	var stat unix.Stat_t
	if err := unix.Fstatat(int(p.proc.Fd()), "thread-self/ns/mnt", &stat, 0); err != nil {
		return 0
	}
	return stat.Ino
}

// remove kills all processes in the pid namespace of a pod.
func (p *podPIDs) remove(pod types.UID) {
	p.mu.Lock()
	ns := p.of[pod]
	delete(p.of, pod)
	p.mu.Unlock()
	if ns != nil {
		p.end(ns.first)
	}
}

// end kills process 1, unless it is nil, and with it all in the namespace. It reports whether they have ended in time: one that is stuck in the
// kernel must hold up no other pod.
func (p *podPIDs) end(first *stage.Child) bool {
	if first == nil {
		return true
	}
	_ = unix.PidfdSendSignal(first.PIDFD, unix.SIGKILL, nil, 0)
	if !hasEnded(first, killTimeout) {
		go p.reap(first)
		return false
	}
	p.reap(first)
	return true
}

func (p *podPIDs) reap(first *stage.Child) {
	_ = reap(first.PID)
	unix.Close(first.PIDFD)
	p.sandbox.processes.forget(first.PID)
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
