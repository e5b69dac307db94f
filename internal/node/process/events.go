package process

import (
	"sync"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// eventQueue passes events on in order. Adding one never blocks, however slowly they are received.
type eventQueue struct {
	out chan runtime.Status

	mu     sync.Mutex
	queued []runtime.Status
	filled chan struct{}
	quit   chan struct{}
}

func newEventQueue() *eventQueue {
	q := &eventQueue{
		out:    make(chan runtime.Status),
		filled: make(chan struct{}, 1),
		quit:   make(chan struct{}),
	}
	go q.run()
	return q
}

func (q *eventQueue) add(s runtime.Status) {
	q.mu.Lock()
	q.queued = append(q.queued, s)
	q.mu.Unlock()
	select {
	case q.filled <- struct{}{}:
	default:
	}
}

func (q *eventQueue) close() { close(q.quit) }

func (q *eventQueue) run() {
	defer close(q.out)
	for {
		select {
		case <-q.filled:
		case <-q.quit:
			return
		}
		q.mu.Lock()
		queued := q.queued
		q.queued = nil
		q.mu.Unlock()
		for _, s := range queued {
			select {
			case q.out <- s:
			case <-q.quit:
				return
			}
		}
	}
}
