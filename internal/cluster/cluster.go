package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/internal/endpoint"
	"github.com/stint-dev/stint/internal/events"
	"github.com/stint-dev/stint/internal/memory"
)

// SyncBatchPeriod is longer than on one machine: here a write has a price, and there may be a limit on them.
const SyncBatchPeriod = 300 * time.Millisecond

// stopTime is how long the last writes may take. A pod gets 30 s to stop, and the lease has to be released in them.
const stopTime = 20 * time.Second

// Options choose what Run does.
type Options struct {
	// Config reaches the cluster, with the limits on requests.
	Config *rest.Config
	// Controllers are the names of those to run.
	Controllers []string
	// Job tunes the Job controller.
	Job job.Options
	// CronJob tunes the CronJob controller.
	CronJob cronjob.Options
	// ScheduledJob tunes the ScheduledJob controller.
	ScheduledJob scheduledjob.Options
	// Election is nil where there are no others to be kept apart from.
	Election *Election
	// MetricsListen is the address to serve /metrics, /healthz and /readyz on, over plain HTTP; empty serves none.
	MetricsListen string
	// Version is Stint's.
	Version string
}

// process is one running Stint.
type process struct {
	Options
	stage atomic.Int32
}

// The stages of a process. None but a standby is skipped.
const (
	starting int32 = iota
	standby
	fillingCaches
	leading
)

// Run works until ctx ends and the last write is done, or until the lease is lost, which is an error.
func Run(ctx context.Context, o Options) error {
	memory.Tune()
	defer context.AfterFunc(ctx, func() { klog.FromContext(ctx).Info("Stopping: what is being written is finished first") })()
	p := &process{Options: o}
	stop, err := p.serve()
	if err != nil {
		return err
	}
	defer stop()
	if err := awaitAPI(ctx, o.Config); err != nil || ctx.Err() != nil {
		return err
	}
	if o.Election == nil {
		return p.work(ctx, o.Config)
	}
	return p.lead(ctx)
}

// serve answers supervisors and scrapers until the function returned is called.
func (p *process) serve() (stop func(), err error) {
	if p.MetricsListen == "" {
		return func() {}, nil
	}
	e, err := endpoint.New(endpoint.Config{Address: p.MetricsListen, Ready: p.ready, Version: p.Version})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := e.Run(ctx); err != nil {
			klog.FromContext(ctx).Error(err, "Working on without them") // Work matters more than telling of it.
		}
	}()
	return func() { cancel(); <-served }, nil
}

// ready is what /readyz tells: a standby is ready to take over.
func (p *process) ready() error {
	switch p.stage.Load() {
	case standby, leading:
		return nil
	case fillingCaches:
		return errors.New("reading what there is to do")
	}
	return errors.New("starting")
}

// work runs the controllers until ctx ends and their last write and event is written.
func (p *process) work(ctx context.Context, config *rest.Config) error {
	c, err := remote.New(config)
	if err != nil {
		return err
	}
	w := events.NewWriter(c.Events(), events.Scheme)
	chosen := p.chosen(c, w)
	informing, stopInformers := context.WithCancel(context.WithoutCancel(ctx))
	c.Start(informing)
	p.stage.Store(fillingCaches)
	go func() {
		if cache.WaitForCacheSync(ctx.Done(), c.HasSynced) {
			p.stage.Store(leading)
			memory.DropStartup()
		}
	}()
	ended := make(chan error, 1)
	go func() {
		err := runAll(ctx, chosen)
		w.Close()
		stopInformers()
		c.Wait()
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	patience := time.NewTimer(stopTime)
	defer patience.Stop()
	select {
	case err := <-ended:
		return err
	case <-patience.C:
		return errBusy
	}
}

// errBusy leaves the lease to run out: what is being written may still arrive.
var errBusy = fmt.Errorf("the last writes have not ended within %v: the API server does not answer, or --kube-api-qps is low", stopTime)
