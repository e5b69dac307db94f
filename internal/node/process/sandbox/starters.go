package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// starters are threads that start containers and their commands. Either all of these may gain privileges, or none.
type starters struct {
	sandbox *Sandbox
	locked  bool
	// jobs are for any of the threads, unless each container has a pidsGroup: then a thread of that starts it.
	jobs *taskQueue
	// open starts the threads that take jobs, at its first call. All calls return its error.
	open func() error
	// turns bounds how many threads of pidsGroups start containers at a time.
	turns chan struct{}

	mu sync.Mutex
	// idle are the pidsGroups that no container uses, returning those that are not empty yet; making is whether some are being made ahead.
	idle      []*pidsGroup
	returning map[*pidsGroup]bool
	making    bool
	ahead     sync.WaitGroup
}

const (
	// groupsAhead is how many pidsGroups are made while another thread is moved: what a move waits for serves those that follow.
	groupsAhead = 8
	// maxIdleGroups bounds how many are kept for later containers. Each has a thread.
	maxIdleGroups = 64
)

func newStarters(b *Sandbox, locked bool) *starters {
	s := &starters{sandbox: b, locked: locked, turns: make(chan struct{}, threadCount()), returning: map[*pidsGroup]bool{}}
	s.jobs = newTaskQueue(func() error { return s.startThread(s.jobs, nil) })
	s.open = sync.OnceValue(func() error {
		for range threadCount() {
			if err := s.startThread(s.jobs, nil); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

// run does work on a thread whose children are processes of a new container. They are in the pidsGroup that it returns, if the machine has
// such cgroups.
func (s *starters) run(do func(*thread) error) (*pidsGroup, error) {
	if s.sandbox.legacy.pids == nil {
		if err := s.open(); err != nil {
			return nil, err
		}
		return nil, s.jobs.run(do)
	}
	s.turns <- struct{}{}
	passOn := sync.OnceFunc(func() { <-s.turns })
	defer passOn()
	// The thread may hang.
	defer time.AfterFunc(hangTime, passOn).Stop()
	g, err := s.take()
	if err != nil {
		return nil, fmt.Errorf("limit the number of processes: %w", err)
	}
	return g, g.jobs.run(do)
}

func (s *starters) take() (g *pidsGroup, err error) {
	s.mu.Lock()
	if last := len(s.idle) - 1; last >= 0 {
		g = s.idle[last]
		s.idle = s.idle[:last]
	}
	s.mu.Unlock()
	if g == nil {
		g, err = s.newGroup()
	}
	s.makeAhead()
	return g, err
}

func (s *starters) newGroup() (*pidsGroup, error) {
	g, err := s.sandbox.legacy.pids.newGroup()
	if err != nil {
		return nil, err
	}
	g.starters = s
	if err := s.startThread(g.jobs, g); err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

// makeAhead makes pidsGroups if the last one was taken.
func (s *starters) makeAhead() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) > 0 || s.making {
		return
	}
	s.making = true
	s.ahead.Go(func() {
		for range groupsAhead {
			g, err := s.newGroup()
			if err != nil {
				break
			}
			s.keep(g)
		}
		s.mu.Lock()
		s.making = false
		s.mu.Unlock()
	})
}

// giveBack keeps the pidsGroup of a container that has ended. It has to become empty first, or it is not used again: processes that have
// ended count until they are reaped.
func (g *pidsGroup) giveBack() {
	switch {
	case g == nil:
	case g.isEmpty():
		g.starters.keep(g)
	default:
		g.starters.keepOnceEmpty(g)
	}
}

func (s *starters) keepOnceEmpty(g *pidsGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.returning[g] = true
	go func() {
		if !g.becomesEmpty() {
			return // close tries to remove it.
		}
		s.mu.Lock()
		waited := s.returning[g]
		delete(s.returning, g)
		s.mu.Unlock()
		if waited {
			s.keep(g)
		}
	}()
}

func (s *starters) keep(g *pidsGroup) {
	s.mu.Lock()
	full := len(s.idle) >= maxIdleGroups
	if !full {
		s.idle = append(s.idle, g)
	}
	s.mu.Unlock()
	if full {
		go g.remove()
	}
}

// close removes the pidsGroups. No container may be running.
func (s *starters) close() {
	s.ahead.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range slices.AppendSeq(s.idle, maps.Keys(s.returning)) {
		g.remove()
	}
	s.idle = nil
	clear(s.returning)
}
