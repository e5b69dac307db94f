package sandbox

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/process/stage"
)

// podPIDs are the pid namespaces of pods whose containers share one.
type podPIDs struct {
	processes *processTree
	null      *os.File
	// pause is the program of the first process; nil if there is none, for the reason whyNoPause.
	pause      *os.File
	whyNoPause error

	mu sync.Mutex
	of map[types.UID]*stage.Child
}

func openPodPIDs(b *Sandbox) *podPIDs {
	p := &podPIDs{processes: b.processes, null: b.null, of: map[types.UID]*stage.Child{}}
	p.pause, p.whyNoPause = newPause()
	return p
}

// open returns a pidfd of the pod's process 1, which the caller closes.
func (p *podPIDs) open(pod types.UID) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first, err := p.first(pod)
	if err != nil {
		return -1, fmt.Errorf("make the pid namespace that the containers of the pod share: %w", err)
	}
	return duplicate(first.PIDFD)
}

// first returns the pod's process 1. If it was killed, the kernel has killed the containers with it, and the next ones
// get another. The caller holds p.mu.
func (p *podPIDs) first(pod types.UID) (*stage.Child, error) {
	if first := p.of[pod]; first != nil {
		if !hasEnded(first) {
			return first, nil
		}
		p.end(first)
		delete(p.of, pod)
	}
	first, err := p.start()
	if err == nil {
		p.of[pod] = first
	}
	return first, err
}

// start makes a pid namespace. Its first process ignores SIGCHLD, so that the kernel reaps orphans, and cannot be killed
// from inside.
func (p *podPIDs) start() (*stage.Child, error) {
	if p.whyNoPause != nil {
		return nil, p.whyNoPause
	}
	c := &child{Program: &stage.Program{}}
	c.detach()
	ignore := make([]byte, 32)
	ignore[0] = 1
	c.Do("ignore SIGCHLD", unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), c.Bytes(ignore), 0, signalSetSize)
	null := int(p.null.Fd())
	c.setStreams(childStreams{stdin: null, stdout: null, stderr: null})
	c.Do(stepRunProgram, unix.SYS_EXECVEAT, p.pause.Fd(), c.String(""), c.Strings([]string{"pause"}), c.Strings(nil), unix.AT_EMPTY_PATH)
	var first *stage.Child
	_, err := p.processes.fork(func() (pid int, err error) {
		if first, err = stage.Start(c.Program, unix.CLONE_NEWPID, -1); err == nil {
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

func hasEnded(c *stage.Child) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(c.PIDFD), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// killTree kills orphans of a container, whose parent is the pod's process 1, and reports whether some may be left.
func (p *podPIDs) killTree(pod types.UID, mark string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	first := p.of[pod]
	if first == nil {
		return false
	}
	return killMarked(first.PID, mark)
}

// killMarked kills the descendants of a process 1 that have the mark, and reports whether some may be left.
func killMarked(first int, mark string) bool {
	marks, dead := map[string]bool{mark: true}, map[int]bool{}
	for range maxPasses {
		if !killMarkedOrphans(first, marks, dead) {
			return false
		}
	}
	return true
}

// killMarkedOrphans reports whether it may have missed one: the child of a process that was killed or has ended since the last
// pass. The newest come first, as they may fork and end at once.
func killMarkedOrphans(first int, marks map[string]bool, dead map[int]bool) (missed bool) {
	for _, pid := range slices.Backward(childrenOf(first)) {
		if dead[pid] {
			continue
		}
		missed = killMarkedTree(pid, marks) || missed
		dead[pid] = statOf(pid).dead
		missed = missed || dead[pid]
	}
	return missed
}

// killMarkedTree kills the process and its descendants that have the mark, and reports whether there may have been any. One
// that is being loaded has no environment yet.
func killMarkedTree(pid int, marks map[string]bool) (any bool) {
	e, s := environAndStat(pid)
	any = e.has(marks) && killAll([]int{pid})
	if !s.dead {
		any = any || e.isMissing(s)
	}
	for _, child := range childrenOf(pid) {
		any = killMarkedTree(child, marks) || any
	}
	return any
}

// remove kills all processes in the pid namespace of a pod.
func (p *podPIDs) remove(pod types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.of[pod]; first != nil {
		p.end(first)
		delete(p.of, pod)
	}
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
	if p.pause != nil {
		p.pause.Close()
	}
}
