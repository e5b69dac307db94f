package store

import (
	"context"
	"errors"
	"sync"
)

var errClosed = errors.New("the store is closed")

// readers are the goroutines that read from the database. A read of a closed database ends the program.
type readers struct {
	closing context.Context
	end     context.CancelFunc

	mu      sync.Mutex
	reading sync.WaitGroup
}

func newReaders() *readers {
	r := &readers{}
	r.closing, r.end = context.WithCancel(context.Background())
	return r
}

// close makes all later reads fail, and waits for those under way.
func (r *readers) close() {
	r.mu.Lock()
	r.end()
	r.mu.Unlock()
	r.reading.Wait()
}

// read calls a function that reads from the database and ends with ctx, which also ends when the store is closed.
func (r *readers) read(ctx context.Context, read func(context.Context) error) error {
	if !r.begin() {
		return errClosed
	}
	defer r.reading.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.closing, cancel)()
	return read(ctx)
}

func (r *readers) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing.Err() != nil {
		return false
	}
	r.reading.Add(1)
	return true
}
