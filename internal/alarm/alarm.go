// Package alarm rings at times of the wall clock: one goroutine and a heap for any number of keys.
//
// A timer of the language counts the time that passes on the machine, which is not what clocks show: it stops while the
// machine sleeps, and does not know when the clock is set. So the alarm compares what the clock shows, and looks at it
// once a second at the latest.
package alarm

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// longestSleep is how late an alarm may be after the clock was set or the machine slept.
const longestSleep = time.Second

// Alarm calls a function once for each key, at the time that was set for it.
type Alarm[K comparable] struct {
	onDue func(K)
	clock clock.PassiveClock
	// earlier has a value when Run must wake before the time that it sleeps until.
	earlier chan struct{}

	mu      sync.Mutex
	entries map[K]*entry[K]
	waiting queue[K]
}

// New returns an alarm that calls onDue, for one key at a time. It calls nothing until Run.
func New[K comparable](onDue func(K), clock clock.PassiveClock) *Alarm[K] {
	return &Alarm[K]{
		onDue:   onDue,
		clock:   clock,
		earlier: make(chan struct{}, 1),
		entries: map[K]*entry[K]{},
	}
}

// Set sets the time of a key, and replaces the earlier one. The zero time cancels it, a past time is due at once.
func (a *Alarm[K]) Set(key K, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.entries[key]
	switch {
	case at.IsZero():
		if e != nil {
			a.remove(e)
		}
		return
	case e == nil:
		e = &entry[K]{key: key, at: at.Round(0)}
		a.entries[key] = e
		heap.Push(&a.waiting, e)
	default:
		e.at = at.Round(0)
		heap.Fix(&a.waiting, e.position)
	}
	if e.position == 0 {
		select {
		case a.earlier <- struct{}{}:
		default: // Run wakes anyway.
		}
	}
}

// Run calls onDue for keys that are due until ctx ends.
func (a *Alarm[K]) Run(ctx context.Context) {
	timer := time.NewTimer(longestSleep)
	defer timer.Stop()
	for {
		due, sleep := a.popDue(a.clock.Now().Round(0))
		for _, key := range due {
			if ctx.Err() != nil {
				return
			}
			a.onDue(key)
		}
		var tick <-chan time.Time
		if sleep > 0 {
			timer.Reset(sleep)
			tick = timer.C
		}
		select {
		case <-ctx.Done():
			return
		case <-a.earlier:
		case <-tick:
		}
	}
}

// popDue forgets the keys that are due and returns them, in the order of their times, and how long to sleep then; 0 is
// until something is set.
func (a *Alarm[K]) popDue(now time.Time) (due []K, sleep time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.waiting) > 0 {
		e := a.waiting[0]
		if wait := e.at.Sub(now); wait > 0 {
			return due, min(wait, longestSleep)
		}
		a.remove(e)
		due = append(due, e.key)
	}
	return due, 0
}

func (a *Alarm[K]) remove(e *entry[K]) {
	heap.Remove(&a.waiting, e.position)
	delete(a.entries, e.key)
}
