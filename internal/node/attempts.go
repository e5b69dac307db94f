package node

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Newest implements podlogs.Attempts.
func (ps *pods) Newest(uid types.UID, container string) (attempt int32, started bool) {
	if p := ps.get(uid); p != nil {
		return p.newest(container)
	}
	return 0, false
}

// Ended implements podlogs.Attempts.
func (ps *pods) Ended(id runtime.ID) (ended <-chan struct{}, known bool) {
	if p := ps.get(id.PodUID); p != nil {
		return p.endOf(id), true
	}
	return nil, false
}

// newest returns the number of the newest attempt at the container. It includes runtime statuses that no worker has
// processed yet.
func (p *pod) newest(container string) (attempt int32, started bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h, ok := p.containers[container]; ok && h.Last != nil {
		attempt, started = h.Last.Attempt, true
	}
	for _, s := range p.runtimeStatuses {
		if s.Container == container && (!started || s.Attempt > attempt) {
			attempt, started = s.Attempt, true
		}
	}
	return attempt, started
}

// closedChan stands for the end of an attempt that has ended already.
var closedChan = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// endOf returns a channel that is closed once the attempt has ended.
func (p *pod) endOf(id runtime.ID) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.runtimeStatuses {
		if s.ID == id && s.State == runtime.Exited {
			return closedChan
		}
	}
	h := p.containers[id.Container]
	if h.Last != nil && (h.Last.Attempt > id.Attempt || h.Last.Attempt == id.Attempt && h.Exited()) {
		return closedChan
	}
	if p.exitWaiters == nil {
		p.exitWaiters = map[runtime.ID]chan struct{}{}
	}
	if p.exitWaiters[id] == nil {
		p.exitWaiters[id] = make(chan struct{})
	}
	return p.exitWaiters[id]
}
