// Package server runs Stint on one machine: store, API server, controllers and node in one process.
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

// Options are the settings of a server.
type Options struct {
	// DataDir has the store, the keys, the kubeconfig and the logs of pods. It is created if it does not exist.
	DataDir string
	// StartTimeout limits the wait for the host process; 0 is process.DefaultStartTimeout.
	StartTimeout time.Duration
	// Listen is the address to serve HTTPS on, host:port; empty serves this process only.
	Listen string
	// MetricsListen is the address to serve /metrics, /healthz and /readyz on, over plain HTTP; empty serves none.
	MetricsListen string
	// ReadOnly serves the data directory without controllers and node.
	ReadOnly bool
	// Node runs pods on this machine. Without it pods stay pending, unless a client updates their status.
	Node bool
	// Cordoned cordons the node: it manages running pods and starts no others.
	Cordoned bool
	// Allocatable limits the sum of the requests of running pods; nil is what the machine has.
	Allocatable corev1.ResourceList
	// KeepLogs limits, in bytes, the kept logs of deleted pods; nil is podlogs.DefaultLimit.
	KeepLogs *int64
	// StoreQuota limits the size of the store in bytes; 0 is store.DefaultQuota.
	StoreQuota int64
	// RuntimeClass is the default of pods; empty is runtime.ClassProcess.
	RuntimeClass string
	// LocalStorageClasses are StorageClasses whose claims are served as those of the class local, though they do not exist or
	// name another provisioner; "*" is all.
	LocalStorageClasses []string
	// ImageDir is the image store; empty is that of the user.
	ImageDir string
	// ImageGC says when images are removed; the zero policy is the default.
	ImageGC imagestore.GCPolicy
	// MemoryLimit limits the memory of this process, in bytes; 0 is memory.DefaultLimit.
	MemoryLimit int64
	// PodMaxPIDs limits the processes of a container; 0 is process.DefaultPodMaxPIDs, a negative number no limit.
	PodMaxPIDs int64
	// KeepSessionKeyring leaves containers of this process's user without image with the session keyring of this process.
	KeepSessionKeyring bool
	// Controllers are the names of the controllers to run; nil is all.
	Controllers []string
	// TerminatedPodGCThreshold is how many terminated pods are kept before the oldest are deleted; nil is
	// podgc.DefaultThreshold, 0 or less keeps all.
	TerminatedPodGCThreshold *int
	// Job tunes the Job controller.
	Job job.Options
	// CronJob tunes the CronJob controller.
	CronJob cronjob.Options
	// ScheduledJob tunes the ScheduledJob controller.
	ScheduledJob scheduledjob.Options
	// EventDrainTime limits how long a stopping server writes queued events; 0 is two seconds.
	EventDrainTime time.Duration
	// Executable is the stint binary of the host process; empty is the running one.
	Executable string
	// Version is the version that the node reports.
	Version string
}

// Server is a running Stint.
type Server struct {
	api  *apiserver.Server
	stop context.CancelCauseFunc
	done chan struct{}
	err  error
}

// Start returns when the server is ready. The server runs until ctx ends; Wait waits until it has stopped.
func Start(ctx context.Context, o Options) (*Server, error) {
	memory.Tune(memory.ServerHeadroom)
	p := &components{memory: memory.SetLimit(cmp.Or(o.MemoryLimit, memory.DefaultLimit()))}
	if err := prepare(o); err != nil {
		return nil, err
	}
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
	case <-s.done: // ctx may have ended during the start
		return nil, cmp.Or(s.err, context.Cause(ctx))
	}
}

// prepare checks the data directory and, unless read-only, creates it.
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

// Client returns a client that calls the registry directly.
func (s *Server) Client() client.Interface { return s.api.Client() }

// RESTConfig returns a configuration for the whole API, without a socket, as a user who may do everything.
func (s *Server) RESTConfig() *rest.Config { return s.api.RESTConfig() }

// KubeconfigPath is the kubeconfig for clients, if the server listens.
func (s *Server) KubeconfigPath() string { return s.api.KubeconfigPath() }

// Wait returns when everything has stopped, with the error that stopped it.
func (s *Server) Wait() error {
	<-s.done
	return s.err
}
