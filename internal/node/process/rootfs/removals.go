package rootfs

import (
	"context"
	"sync"
	"time"
)

// removePatience is how long a host process that ends still removes what containers have written. The next one removes the rest.
const removePatience = time.Second

// removals removes what containers have written in the background, as that may be millions of files. No container waits for it.
type removals struct {
	remove func(ctx context.Context, name string) error
	gone   chan struct{}
	cancel context.CancelFunc

	mu    sync.Mutex
	added *sync.Cond
	names []string
	// stopping: no more names are added.
	stopping bool
}

// startRemovals removes these names, and those that are added later.
func startRemovals(remove func(context.Context, string) error, names []string) *removals {
	ctx, cancel := context.WithCancel(context.Background())
	r := &removals{remove: remove, gone: make(chan struct{}), cancel: cancel, names: names}
	r.added = sync.NewCond(&r.mu)
	go r.run(ctx)
	return r
}

func (r *removals) run(ctx context.Context) {
	defer close(r.gone)
	for name, ok := r.next(); ok && ctx.Err() == nil; name, ok = r.next() {
		_ = r.remove(ctx, name) // The next host process tries again.
	}
}

// next returns the next name, or false if there will be none.
func (r *removals) next() (name string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.names) == 0 && !r.stopping {
		r.added.Wait()
	}
	if len(r.names) == 0 {
		return "", false
	}
	name, r.names = r.names[0], r.names[1:]
	return name, true
}

func (r *removals) add(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, name)
	r.added.Signal()
}

// stop ends the removals, at the latest after removePatience.
func (r *removals) stop() {
	r.mu.Lock()
	r.stopping = true
	r.added.Signal()
	r.mu.Unlock()
	defer time.AfterFunc(removePatience, r.cancel).Stop()
	<-r.gone
	r.cancel()
}
