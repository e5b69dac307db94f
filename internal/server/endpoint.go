package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/component-base/metrics/legacyregistry"
)

// endpoint serves /metrics, /healthz and /readyz without authentication, for scrapers and supervisors.
type endpoint struct {
	listener net.Listener
	server   *http.Server
}

func newEndpoint(address string, ready <-chan struct{}) (*endpoint, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s (choose another address with --metrics-bind-address): %w", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", legacyregistry.Handler())
	mux.HandleFunc("/healthz", answer(nil))
	mux.HandleFunc("/readyz", answer(ready))
	return &endpoint{listener, &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}}, nil
}

// answer says ok once ready is closed; nil is ready always.
func answer(ready <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if ready != nil {
			select {
			case <-ready:
			default:
				http.Error(w, "starting", http.StatusServiceUnavailable)
				return
			}
		}
		fmt.Fprintln(w, "ok")
	}
}

// Run serves until ctx ends.
func (e *endpoint) Run(ctx context.Context) error {
	context.AfterFunc(ctx, func() { _ = e.server.Close() })
	if err := e.server.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}
