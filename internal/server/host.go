package server

import (
	"context"
	"fmt"

	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// host starts the host process in the background: this takes as long as opening the API, so both are done at the same time.
type host struct {
	started chan struct{}
	runtime *process.Runtime
	err     error
}

func startHost(ctx context.Context, config process.Config) *host {
	h := &host{started: make(chan struct{})}
	go func() {
		defer close(h.started)
		h.runtime, h.err = process.Start(ctx, config)
	}()
	return h
}

func (h *host) wait() (*process.Runtime, error) {
	<-h.started
	if h.err != nil {
		return nil, fmt.Errorf("start the host process: %w", h.err)
	}
	return h.runtime, nil
}

// info returns what the runtime can do, for the validation of pods. It waits for the host process.
func (h *host) info() runtime.Info {
	if containers, err := h.wait(); err == nil {
		return containers.Info()
	}
	return runtime.Info{}
}

func (h *host) close() error {
	containers, err := h.wait()
	if err != nil {
		return nil
	}
	return containers.Close()
}
