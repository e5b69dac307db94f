package sandbox

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// markVariable is in the environment of every process of a container.
const markVariable = "STINT_CONTAINER"

// mark says which container a process belongs to. The name of the Sandbox is a part of it, because a copy of a data
// directory has the same pods.
func mark(box string, id runtime.ID) string {
	return fmt.Sprintf("%s=%s/%s/%s/%d", markVariable, box, id.PodUID, id.Container, id.Attempt)
}

// processTree keeps track of processes where no cgroup does, and of those that have left their cgroup, as root may, and a
// user in a delegated tree. This process is the parent of its containers' orphans. A mark in their environment says which
// container they belong to.
type processTree struct {
	// forking keeps the reaper from taking a child that was just forked for an orphan.
	forking sync.RWMutex

	mu sync.Mutex
	// mains are the containers' main processes, which Process.Wait reaps. forks counts the forks that are under way.
	mains map[int]bool
	forks int
	// children lists the children of this process's first thread, which the kernel makes the parent of orphans.
	children *os.File
}

func newProcessTree() (*processTree, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the parent of orphaned processes: %w", err)
	}
	f := &processTree{mains: map[int]bool{}}
	pid := os.Getpid()
	// Kernels without CONFIG_PROC_CHILDREN lack the file.
	f.children, _ = os.Open(childrenFile(pid, strconv.Itoa(pid)))
	go f.reapOrphans()
	return f, nil
}

// reapPause is how long orphans that have ended may stay. Main processes send the same signal, thousands in a second, and each
// that is listened to wakes a thread.
const reapPause = 20 * time.Millisecond

// reapOrphans reaps orphans when they have ended.
func (f *processTree) reapOrphans() {
	ended := make(chan os.Signal, 1)
	for {
		signal.Notify(ended, unix.SIGCHLD)
		f.reap() // those that ended during the pause
		<-ended
		signal.Stop(ended)
		time.Sleep(reapPause)
	}
}

// fork records the child as a main process before the reaper can take it for an orphan.
func (f *processTree) fork(fork func() (int, error)) (int, error) {
	f.forking.RLock()
	defer f.forking.RUnlock()
	f.mu.Lock()
	f.forks++
	f.mu.Unlock()
	pid, err := fork()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forks--
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

// orphans lists the children of this process that are not main processes. If alone, there is no main process and no fork
// under way, so each of them is certainly an orphan of an ended container.
func (f *processTree) orphans() (pids []int, alone bool) {
	adopted, _ := io.ReadAll(io.NewSectionReader(f.children, 0, math.MaxInt64))
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pid := range parsePIDs(adopted) {
		if !f.mains[pid] {
			pids = append(pids, pid)
		}
	}
	return pids, len(f.mains)+f.forks == 0
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

// maxPasses bounds how often in a row killTree lists orphans: a tree that forks faster than it is killed must not keep
// containers from starting.
const maxPasses = 10

// killTree kills all descendants of the main process and reports whether some may be left. Lives reports whether the main process was not
// reaped. An orphan that has removed its mark and left its session is killed when no container is left that it could belong to.
func (f *processTree) killTree(main int, lives func() bool, mark string) bool {
	// While no orphan is reaped, its pid is not used again.
	f.forking.RLock()
	defer f.forking.RUnlock()
	if lives() {
		killAll(below(main, lives))
	}
	dead := map[int]bool{}
	for range maxPasses {
		if f.killOrphans(main, mark, dead) {
			return false
		}
	}
	return true
}

// killOrphans kills the orphans that descend from the main process, and reports whether none can be left. One that was
// alive when orphans were listed may have forked since, and its child is an orphan then. So may one that has ended,
// unless an earlier pass has found it dead.
func (f *processTree) killOrphans(main int, mark string, dead map[int]bool) bool {
	orphans, alone := f.orphans()
	marks := map[string]bool{mark: true}
	none := true
	for _, pid := range orphans {
		e, s := environAndStat(pid)
		ours := alone || e.has(marks) || s.session == main
		killed := ours && killOwn(pid)
		switch {
		case s.dead:
			none = none && dead[pid]
			dead[pid] = true
		case killed || e.isMissing(s):
			none = false
		}
	}
	return none
}

// killOwn kills a child of this process, which nothing reaps meanwhile, and its descendants. It reports whether the child could be killed.
func killOwn(pid int) bool {
	descendants := below(pid, func() bool { return true })
	defer killAll(descendants)
	return unix.Kill(pid, unix.SIGKILL) == nil
}
