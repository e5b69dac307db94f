package store

import (
	"sync"

	"k8s.io/apimachinery/pkg/watch"
)

// relay is a watch that passes on the events of other watches, one after the other.
type relay struct {
	events   chan watch.Event
	stopOnce sync.Once
	stopped  chan struct{}
}

// newRelay returns a relay of the watches that run forwards. It ends when run returns.
func newRelay(run func(*relay)) *relay {
	r := &relay{events: make(chan watch.Event), stopped: make(chan struct{})}
	go func() {
		defer close(r.events)
		run(r)
	}()
	return r
}

// ResultChan implements watch.Interface.
func (r *relay) ResultChan() <-chan watch.Event { return r.events }

// Stop implements watch.Interface.
func (r *relay) Stop() { r.stopOnce.Do(func() { close(r.stopped) }) }

// forward passes on the events of source, changed by change, until source ends, Stop is called, or change says that an event
// is the last one. Events without a type are left out. It returns false if Stop was called.
func (r *relay) forward(source watch.Interface, change func(watch.Event) (_ watch.Event, last bool)) bool {
	defer source.Stop()
	for {
		select {
		case <-r.stopped:
			return false
		case e, ok := <-source.ResultChan():
			if !ok {
				return true
			}
			e, last := change(e)
			if e.Type != "" && !r.send(e) {
				return false
			}
			if last {
				return true
			}
		}
	}
}

func (r *relay) send(e watch.Event) bool {
	select {
	case <-r.stopped:
		return false
	case r.events <- e:
		return true
	}
}
