// Package endpoint serves /metrics, /healthz and /readyz of stint server and stint controller.
package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // measures requests, queues and leader election

	"github.com/stint-dev/stint/internal/connlimit"
)

// Config is the configuration of an Endpoint.
type Config struct {
	// Address is host:port.
	Address string
	// Ready returns nil, or why the process is not ready.
	Ready func() error
	// Version is Stint's.
	Version string
	// More are metrics of the process besides those of Kubernetes' registry.
	More prometheus.Gatherers
}

// Endpoint serves plain HTTP, without authentication.
type Endpoint struct {
	listener net.Listener
	server   *http.Server
}

// New listens on the address. Run serves.
func New(c Config) (*Endpoint, error) {
	listener, err := net.Listen("tcp", c.Address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s (choose another address with --metrics-bind-address): %w", c.Address, err)
	}
	build, err := buildInfo(c.Version)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	series := append(prometheus.Gatherers{legacyregistry.DefaultGatherer, build}, c.More...)
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(series, promhttp.HandlerOpts{}))
	mux.HandleFunc("/healthz", answer(func() error { return nil }))
	mux.HandleFunc("/readyz", answer(c.Ready))
	return &Endpoint{connlimit.Limit(listener, connlimit.MaxUnauthenticated()), &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}}, nil
}

func buildInfo(version string) (prometheus.Gatherer, error) {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "stint_build_info", Help: "Which Stint this is; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "go_version": runtime.Version()},
	})
	info.Set(1)
	registry := prometheus.NewRegistry()
	return registry, registry.Register(info)
}

func answer(ready func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}

// Run serves until ctx ends.
func (e *Endpoint) Run(ctx context.Context) error {
	context.AfterFunc(ctx, func() { _ = e.server.Close() })
	if err := e.server.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}
