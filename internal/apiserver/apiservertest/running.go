package apiservertest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/store"
	"github.com/stint-dev/stint/test/await"
)

// running is an API server with its store.
type running struct {
	*apiserver.Server
	store  *store.Store
	cancel context.CancelFunc
	// ended is closed when Run has returned err.
	ended chan struct{}
	err   error
}

func run(c apiserver.Config) (*running, error) {
	var err error
	if c.Store, err = store.Open(context.Background(), c.DataDir); err != nil {
		return nil, err
	}
	api, err := apiserver.New(c)
	if err != nil {
		return nil, errors.Join(err, c.Store.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Server: api, store: c.Store, cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		r.err = api.Run(ctx)
	}()
	return r, nil
}

func (r *running) waitUntilReady(t testing.TB) {
	t.Helper()
	select {
	case <-r.Ready():
	case <-r.ended:
		t.Fatalf("the server ended: %v", r.err)
	case <-await.Context(t).Done():
		t.Fatalf("not within %s: the server is ready", await.Limit)
	}
}

func (r *running) stop() error {
	r.cancel()
	<-r.ended
	if err := errors.Join(r.err, r.store.Close()); err != nil {
		return fmt.Errorf("stopping the server: %w", err)
	}
	return nil
}
