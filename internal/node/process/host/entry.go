package host

import (
	"context"
	"sync"
	"time"

	"github.com/stint-dev/stint/internal/node/process/sandbox"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// entry is one attempt at a container.
type entry struct {
	// decided is closed when the attempt to start is over, ended when no process of the container is left.
	decided, ended chan struct{}
	// listeners are the clients that are attached.
	listeners listeners

	mu      sync.Mutex
	status  runtime.Status
	process *sandbox.Process
	// failure is why the machine could not try to start it. The attempt is forgotten then.
	failure error
	// starting is done when the start is to end, even before the process has executed its program.
	starting context.Context
	endStart context.CancelFunc
	// kill fires at killAt, when the grace period of a Stop is over.
	kill   *time.Timer
	killAt time.Time
}

func newEntry(s runtime.Status) *entry {
	e := &entry{status: s, decided: make(chan struct{}), ended: make(chan struct{})}
	e.starting, e.endStart = context.WithCancel(context.Background())
	return e
}

// endedEntry makes the entry of an attempt of which only the end is known.
func endedEntry(s runtime.Status) *entry {
	e := newEntry(s)
	close(e.decided)
	close(e.ended)
	return e
}

func (e *entry) current() runtime.Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.status
}

func (e *entry) isEnded() bool { return isClosed(e.ended) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// run makes p the process of the container. Stop may have been called while it was started.
func (e *entry) run(p *sandbox.Process) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.process = p
	e.status.PID, e.status.StartedAt = p.PID, p.StartedAt
	e.status.MissingMountPoints = p.MissingMountPoints
	switch {
	case e.starting.Err() != nil:
		_ = p.KillTree()
	case e.kill != nil:
		_ = p.Terminate()
	}
}

// stop sends the stop signal and kills the container after grace. A second stop can shorten the grace, not extend it. A container that
// has not executed its program yet gets the signal when it has.
func (e *entry) stop(grace time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.process == nil && isClosed(e.decided) {
		return nil
	}
	if grace <= 0 {
		return e.killTree()
	}
	at := time.Now().Add(grace)
	switch {
	case e.kill == nil:
		e.kill = time.AfterFunc(grace, e.killNow)
		e.killAt = at
		if e.process != nil {
			return e.process.Terminate()
		}
	case at.Before(e.killAt):
		e.kill.Reset(grace)
		e.killAt = at
	}
	return nil
}

func (e *entry) killNow() {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.killTree()
}

// killTree kills the container, also one that is being started. The caller holds e.mu.
func (e *entry) killTree() error {
	e.endStart()
	if e.process == nil {
		return nil
	}
	return e.process.KillTree()
}

// finish records the end. The process must not be signalled any more: its resources serve another one.
func (e *entry) finish(s runtime.Status) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status = s
	e.process = nil
	if e.kill != nil {
		e.kill.Stop()
	}
}
