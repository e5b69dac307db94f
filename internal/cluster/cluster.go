package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/internal/endpoint"
	"github.com/stint-dev/stint/internal/events"
	"github.com/stint-dev/stint/internal/memory"
)

// SyncBatchPeriod is longer than on one machine, as writes are more expensive on a cluster and may be rate-limited.
const SyncBatchPeriod = 300 * time.Millisecond

// MaxPodCreateDeletePerSync is smaller than on one machine, as pods that terminate during a sync are counted after it.
const MaxPodCreateDeletePerSync = 50

// stopTime is how long the last writes may take. The pod's grace period is 30 s, in which the lease has to be released as well.
const stopTime = 20 * time.Second

// readyPoll is how often a starting process looks whether its caches have synced. It has to look, as a kind that the API server
// does not serve counts as synced until it does.
const readyPoll = 100 * time.Millisecond

// Options are the settings of Run.
type Options struct {
	// Config connects to the cluster, with the limits on requests.
	Config *rest.Config
	// Controllers are the names of the controllers to run.
	Controllers []string
	// Job tunes the Job controller.
	Job job.Options
	// CronJob tunes the CronJob controller.
	CronJob cronjob.Options
	// ScheduledJob tunes the ScheduledJob controller.
	ScheduledJob scheduledjob.Options
	// Election is nil without leader election.
	Election *Election
	// MetricsListen is the address to serve /metrics, /healthz and /readyz on, over plain HTTP; empty serves none.
	MetricsListen string
	// Version is Stint's.
	Version string
}

// process is a running stint controller.
type process struct {
	Options
	stage atomic.Int32
}

// The stages of a process. Only standby may be skipped.
const (
	starting int32 = iota
	standby
	fillingCaches
	leading
)

// Run runs the controllers until ctx ends and the last write is done, or until the lease is lost, which is an error.
func Run(ctx context.Context, o Options) error {
	memory.Tune(memory.ControllerHeadroom)
	memory.SetLimit(memory.DefaultLimit())
	defer context.AfterFunc(ctx, func() { klog.FromContext(ctx).Info("Stopping: writes in progress are finished first") })()
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

// serve serves metrics and health checks until the returned function is called.
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
			klog.FromContext(ctx).Error(err, "Continuing without metrics and health checks") // The controllers matter more than their metrics.
		}
	}()
	return func() { cancel(); <-served }, nil
}

// ready is the check of /readyz. A standby is ready to take over.
func (p *process) ready() error {
	switch p.stage.Load() {
	case standby, leading:
		return nil
	case fillingCaches:
		return errors.New("caches are syncing")
	}
	return errors.New("starting")
}

// work runs the controllers until ctx ends and their last writes and events are written.
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
		synced := func(context.Context) (bool, error) { return c.HasSynced(), nil }
		if wait.PollUntilContextCancel(ctx, readyPoll, true, synced) == nil {
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
	stopTimer := time.NewTimer(stopTime)
	defer stopTimer.Stop()
	select {
	case err := <-ended:
		return err
	case <-stopTimer.C:
		return errBusy
	}
}

// errBusy means that writes are still in progress. The lease is then not released but expires, as they may still take effect.
var errBusy = fmt.Errorf("the last writes have not ended within %v: the API server does not answer, or --kube-api-qps is low", stopTime)
