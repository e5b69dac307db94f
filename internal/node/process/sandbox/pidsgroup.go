package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/process/stage"
)

// legacyPIDs is the Sandbox's part of the version 1 tree with the pids controller. It holds a cgroup for each container, and
// bounds them together.
type legacyPIDs struct {
	// home is the cgroup that this process is in.
	home, dir string
	made      atomic.Int64
}

// openLegacyPIDs returns nil where the limit cannot be set.
func openLegacyPIDs(home, name string, most int64) *legacyPIDs {
	dir := filepath.Join(home, name)
	if setFile(dir, "pids.max", maxPIDs(maxTogether(most, machinePIDs()))) != nil {
		os.Remove(dir)
		return nil
	}
	return &legacyPIDs{home: home, dir: dir}
}

// pidsGroup is a cgroup that limits the processes of one container after another. A thread of this process stays in it and starts
// them: a child starts where its thread is, and moving a thread takes milliseconds.
type pidsGroup struct {
	starters *starters
	// home is where its threads go when it is removed.
	home, dir string
	jobs      *taskQueue
	// max and current are files of the cgroup, which its thread does not see in the root file system of a container.
	max, current *os.File
	// threads counts those in it: one that could not leave a container's namespaces is replaced.
	threads atomic.Int64
	// most is how many processes and threads the container may have; set is the limit that includes those threads.
	most int64
	set  string
}

func (p *legacyPIDs) newGroup() (*pidsGroup, error) {
	dir, err := p.makeDir()
	if err != nil {
		return nil, err
	}
	g := &pidsGroup{home: p.home, dir: dir, jobs: newTaskQueue(nil)}
	if g.current, err = os.Open(filepath.Join(g.dir, "pids.current")); err == nil {
		g.max, err = os.OpenFile(filepath.Join(g.dir, "pids.max"), os.O_WRONLY, 0)
	}
	if err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

// makeDir makes a cgroup. One that a former host process could not remove, as a process in it does not end, is left as it is.
func (p *legacyPIDs) makeDir() (dir string, err error) {
	for {
		dir = filepath.Join(p.dir, strconv.FormatInt(p.made.Add(1), 10))
		if err = os.Mkdir(dir, 0o755); !os.IsExist(err) {
			return dir, err
		}
	}
}

// enter moves the calling thread into the cgroup, for good. One that was there before does nothing meanwhile.
func (g *pidsGroup) enter() error {
	g.threads.Add(1)
	if err := setFile(g.dir, tasksFile, strconv.Itoa(unix.Gettid())); err != nil {
		g.threads.Add(-1)
		return err
	}
	if g.set == "" {
		return nil
	}
	return g.allow(0)
}

// limit lets a container have as many processes and threads.
func (g *pidsGroup) limit(most int64) error {
	g.most = most
	return g.allow(0)
}

// allow lets some more be in the cgroup than the container may have.
func (g *pidsGroup) allow(more int64) error {
	most := g.most
	if most > 0 {
		most += g.threads.Load() + more
	}
	text := maxPIDs(most)
	if text == g.set {
		return nil
	}
	_, err := g.max.WriteString(text)
	if err == nil {
		g.set = text
	}
	return err
}

// start starts a process on the thread of the group, or on another one if there is none. A process with memory of its own is started by
// another one, which ends at once.
func (g *pidsGroup) start(p *stage.Program, own stage.Namespaces, cgroup int) (*stage.Child, error) {
	if g == nil || !p.IsApart() {
		return stage.Start(p, own, cgroup)
	}
	if err := g.allow(1); err != nil {
		return nil, err
	}
	defer func() { _ = g.allow(0) }()
	return stage.Start(p, own, cgroup)
}

// isEmpty reports whether no process of a container is in it.
func (g *pidsGroup) isEmpty() bool {
	var buf [24]byte
	n, _ := g.current.ReadAt(buf[:], 0)
	count, err := strconv.ParseInt(strings.TrimSpace(string(buf[:n])), 10, 64)
	return err == nil && count <= g.threads.Load()
}

// becomesEmpty waits until no process of a container is in it.
func (g *pidsGroup) becomesEmpty() bool {
	pause := killWait{limit: killTimeout}
	for !g.isEmpty() {
		if !pause.next() {
			return false
		}
	}
	return true
}

// killAll kills the processes of the container in it, and reports whether some may be left. Nil has none.
func (g *pidsGroup) killAll() bool {
	if g == nil || g.isEmpty() {
		return false
	}
	own := os.Getpid()
	members := slices.DeleteFunc(g.members(), func(pid int) bool { return pid == own })
	for _, pid := range members {
		killIf(pid, func() bool { return slices.Contains(g.members(), pid) })
	}
	// Old kernels count a process that has ended for a while.
	return len(members) > 0
}

func (g *pidsGroup) members() []int {
	data, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.procs"))
	return parsePIDs(data)
}

// remove ends the threads and removes the cgroup, where only processes that end are left. The threads leave before, as the first thread of
// a process cannot end.
func (g *pidsGroup) remove() {
	tasks, _ := os.ReadFile(filepath.Join(g.dir, tasksFile))
	for _, tid := range parsePIDs(tasks) {
		_ = setFile(g.home, tasksFile, strconv.Itoa(tid))
	}
	g.jobs.close()
	closeStreams(g.max, g.current)
	pause := killWait{limit: time.Second}
	for os.Remove(g.dir) != nil && pause.next() {
	}
}
