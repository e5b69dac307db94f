package scenario_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	controller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/internal/events"
	"github.com/stint-dev/stint/test/kube"
)

// unlimited is what kube-controller-manager needs to serve all scenarios at the same time, and syncs what Stint does.
var unlimited = []string{"--kube-api-qps=2000", "--kube-api-burst=2000", "--concurrent-job-syncs=20", "--concurrent-cron-job-syncs=20"}

const syncs = 20

// startCluster starts, on the cluster of the package, the controllers that all columns share: those that delete what
// Jobs leave behind.
func startCluster(t *testing.T) *kube.Cluster {
	t.Helper()
	cluster := kube.Shared(t)
	others, err := cluster.StartControllerManager("garbage-collector-controller,ttl-after-finished-controller", unlimited...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(others.Kill)
	for _, kind := range []string{"scheduledjobs", "resultslices"} {
		if err := cluster.InstallCRD(t.Context(), "../../deploy/crds/stint.dev_"+kind+".yaml"); err != nil {
			t.Fatal(err)
		}
	}
	return cluster
}

// upstream is kube-controller-manager with nothing but its controllers of Jobs and CronJobs.
type upstream struct {
	cluster *kube.Cluster
	flags   []string
	process *kube.Process
}

func newReferenceColumn(t *testing.T, cluster *kube.Cluster, flags ...string) *column {
	u := &upstream{cluster: cluster, flags: slices.Concat(unlimited, flags)}
	u.start(t)
	t.Cleanup(func() { u.stop(t) })
	return newColumn(t, onReference, cluster.Config(), u)
}

func (u *upstream) start(t testing.TB) {
	var err error
	if u.process, err = u.cluster.StartControllerManager("job-controller,cronjob-controller", u.flags...); err != nil {
		t.Fatal(err)
	}
}

func (u *upstream) stop(testing.TB) { u.process.Kill() }

func (*upstream) interrupts() bool { return false }

// stintController is Stint's controllers with a connection of its own, as stint controller has it.
type stintController struct {
	cluster *kube.Cluster
	metrics prometheus.Registerer
	end     func() error
}

func newClusterColumn(t *testing.T, cluster *kube.Cluster, metrics prometheus.Registerer) *column {
	s := &stintController{cluster: cluster, metrics: metrics}
	s.start(t)
	t.Cleanup(func() { s.stop(t) })
	return newColumn(t, onCluster, cluster.Config(), s)
}

func (s *stintController) start(t testing.TB) {
	client, err := remote.New(s.cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	writer := events.NewWriter(client.Events(), events.Scheme)
	writer.DrainTime = eventDrainTime
	controllers := []interface{ Run(context.Context) error }{
		controller.New(client, writer.Recorder("job-controller"), controller.Options{
			ManagedBy: []string{batchv1.JobControllerName, controller.ManagedBy}, Registerer: s.metrics, ConcurrentSyncs: syncs,
		}),
		cronjob.New(client, writer.Recorder("cronjob-controller"), cronjob.Options{ConcurrentSyncs: syncs}),
		scheduledjob.New(client, writer.Recorder("scheduledjob-controller"), scheduledjob.Options{ConcurrentSyncs: syncs}),
	}
	ctx, cancel := context.WithCancel(context.Background())
	client.Start(ctx)
	stopped := make(chan error, len(controllers))
	for _, c := range controllers {
		go func() { stopped <- c.Run(ctx) }()
	}
	s.end = func() error {
		cancel()
		var errs []error
		for range controllers {
			errs = append(errs, <-stopped)
		}
		client.Wait()
		writer.Close()
		return errors.Join(errs...)
	}
}

func (s *stintController) stop(t testing.TB) {
	if err := s.end(); err != nil {
		t.Error(err)
	}
}

func (*stintController) interrupts() bool { return false }
