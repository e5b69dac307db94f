package sandbox

import (
	"fmt"
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// markVariable is in the environment of every process of a container.
const markVariable = "STINT_CONTAINER"

// mark tells whose a process is. The name of its Box is a part of it: a data directory that was copied knows of the
// same pods.
func mark(box string, id runtime.ID) string {
	return fmt.Sprintf("%s=%s/%s/%s/%d", markVariable, box, id.PodUID, id.Container, id.Attempt)
}

// processTree keeps track of processes where no cgroup does, and of those that have left their cgroup: root may, and a user
// in a tree that was handed to it. This process adopts the orphans of its containers; a mark in their environment tells
// whose they are.
type processTree struct {
	// forking keeps the reaper from taking a child that was just born for an orphan.
	forking sync.RWMutex

	mu sync.Mutex
	// mains are the containers' main processes, which their waiters reap; births counts those that are just born.
	mains  map[int]bool
	births int
}

func newFamily() (*processTree, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("adopt orphaned processes: %w", err)
	}
	f := &processTree{mains: map[int]bool{}}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	go func() {
		for range ended {
			f.reap()
		}
	}()
	return f, nil
}

// fork counts the child as a main process before anyone can take it for an orphan.
func (f *processTree) fork(fork func() (int, error)) (int, error) {
	f.forking.RLock()
	defer f.forking.RUnlock()
	f.mu.Lock()
	f.births++
	f.mu.Unlock()
	pid, err := fork()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.births--
	if err == nil {
		f.mains[pid] = true
	}
	return pid, err
}

// forget drops a main process that was reaped.
func (f *processTree) forget(pid int) {
	f.mu.Lock()
	delete(f.mains, pid)
	f.mu.Unlock()
}

// orphans are the children of this process that are no main processes. Alone tells that none of them can
// be a main process that was just born either.
func (f *processTree) orphans() (pids []int, alone bool) {
	children := adopted()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pid := range children {
		if !f.mains[pid] {
			pids = append(pids, pid)
		}
	}
	return pids, len(f.mains)+f.births == 0
}

func (f *processTree) reap() {
	if pids, _ := f.orphans(); len(pids) == 0 {
		return
	}
	f.forking.Lock()
	defer f.forking.Unlock()
	pids, _ := f.orphans()
	for _, pid := range pids {
		_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
	}
}

// maxPasses bounds how often in a row killTree looks: what multiplies faster must not keep containers from starting.
const maxPasses = 10

// killTree kills all that came of the main process and tells whether something may be left. An orphan that shed both
// its mark and its session is ended when no container is left that it could belong to.
func (f *processTree) killTree(main int, mark string) bool {
	// While nothing is reaped, the numbers stay with their processes.
	f.forking.RLock()
	defer f.forking.RUnlock()
	f.mu.Lock()
	lives := f.mains[main]
	f.mu.Unlock()
	if lives {
		killAll(descendants(main))
	}
	dead := map[int]bool{}
	for range maxPasses {
		if f.killOrphans(main, mark, dead) {
			return false
		}
	}
	return true
}

// killOrphans kills those that came of the main process. It is true if that leaves none: one that lived as orphans
// were listed may since have left us a child, and so may one that has ended unless it is among the dead of before.
func (f *processTree) killOrphans(main int, mark string, dead map[int]bool) bool {
	orphans, alone := f.orphans()
	marks := map[string]bool{mark: true}
	none := true
	for _, pid := range orphans {
		e := environOf(pid)
		s := statOf(pid)
		ours := alone || e.has(marks) || s.session == main
		killed := ours && killAll(descendants(pid))
		switch {
		case s.dead:
			none = none && dead[pid]
			dead[pid] = true
		case killed || e.isOut(s):
			none = false
		}
	}
	return none
}

// killAll tells whether there was anything that it may kill.
func killAll(pids []int) bool {
	killed := false
	for _, pid := range pids {
		killed = unix.Kill(pid, unix.SIGKILL) == nil || killed
	}
	return killed
}
