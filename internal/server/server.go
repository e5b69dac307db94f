// Package server puts Stint together on one machine: store, API server, controllers and node in one process.
//
//	Start:  store → API server → controllers and node → informers
//	Stop:   node and controllers → API server → store
package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/internal/datadir"
	imagestore "github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/memory"
)

// Options choose what Start puts together.
type Options struct {
	// DataDir holds the store, the keys, the kubeconfig and the logs of pods. It is made where absent.
	DataDir string
	// StartTimeout bounds the waiting for the process host; 0 is process.DefaultStartTimeout.
	StartTimeout time.Duration
	// Listen is the address to serve HTTPS on, host:port; empty serves this process only.
	Listen string
	// MetricsListen is the address to serve /metrics, /healthz and /readyz on, over plain HTTP; empty serves none.
	MetricsListen string
	// ReadOnly serves what the data directory holds: no controllers, no node.
	ReadOnly bool
	// Node runs pods as processes of this machine. Without it pods wait for whoever moves them.
	Node bool
	// Cordoned has the node see to the pods that run and take no others.
	Cordoned bool
	// Allocatable bounds the sum of the requests of running pods; nil is what the machine has.
	Allocatable corev1.ResourceList
	// KeepLogs bounds in bytes the logs of deleted pods that are kept while their Jobs exist; nil is podlogs.DefaultLimit.
	KeepLogs *int64
	// RuntimeClass is that of pods which ask for none; empty is runtime.ClassProcess.
	RuntimeClass string
	// ImageDir is the store of images; empty is that of the user.
	ImageDir string
	// ImageGC says when images are removed; the zero policy is the default.
	ImageGC imagestore.GCPolicy
	// PodMaxPIDs bounds the processes of a container; 0 is process.DefaultPodMaxPIDs, less is without limit.
	PodMaxPIDs int64
	// Controllers are those to run; nil is all.
	Controllers []string
	// Job tunes the Job controller.
	Job job.Options
	// CronJob tunes the CronJob controller.
	CronJob cronjob.Options
	// ScheduledJob tunes the ScheduledJob controller.
	ScheduledJob scheduledjob.Options
	// EventDrainTime bounds how long a server that stops writes events that are not written yet; 0 is two seconds.
	EventDrainTime time.Duration
	// Executable is the stint binary that becomes the process host; empty is the running one.
	Executable string
	// Version is what the node reports as its own.
	Version string
}

// Server is a running Stint.
type Server struct {
	api  *apiserver.Server
	stop context.CancelCauseFunc
	done chan struct{}
	err  error
}

// Start returns when the server answers. It runs until ctx ends; Wait tells when it has stopped.
func Start(ctx context.Context, o Options) (*Server, error) {
	memory.Tune()
	if err := prepare(o); err != nil {
		return nil, err
	}
	p := &components{}
	if err := p.open(ctx, o); err != nil {
		return nil, errors.Join(err, p.abandon())
	}
	ctx, stop := context.WithCancelCause(ctx)
	s := &Server{api: p.api, stop: stop, done: make(chan struct{})}
	stopped := make(chan error, 1)
	go func() { stopped <- errors.Join(p.run(ctx, stop), p.close()) }()
	go func() {
		defer close(s.done)
		s.err = p.outcome(stopped, stop)
	}()
	select {
	case <-p.ready:
		memory.DropStartup()
		return s, nil
	case <-s.done: // ctx may have ended before the start had
		return nil, cmp.Or(s.err, context.Cause(ctx))
	}
}

// prepare refuses a data directory that cannot be trusted, and makes what is missing of it.
func prepare(o Options) error {
	ready := datadir.Make
	if o.ReadOnly {
		ready = datadir.Check
	}
	warnings, err := ready(o.DataDir)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		slog.Warn(w)
	}
	return nil
}

// Client goes straight to the registry.
func (s *Server) Client() client.Interface { return s.api.Client() }

// RESTConfig reaches the whole API without a socket, as a user who may do everything.
func (s *Server) RESTConfig() *rest.Config { return s.api.RESTConfig() }

// KubeconfigPath is the file that lets others in, where the server listens.
func (s *Server) KubeconfigPath() string { return s.api.KubeconfigPath() }

// Wait returns when everything has stopped, with what went wrong.
func (s *Server) Wait() error {
	<-s.done
	return s.err
}
