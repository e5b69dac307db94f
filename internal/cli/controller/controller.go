// Package controller is stint controller, which manages the Jobs of a cluster.
package controller

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/controllerflags"
	"github.com/stint-dev/stint/internal/cli/version"
	"github.com/stint-dev/stint/internal/cluster"
	"github.com/stint-dev/stint/internal/controller/job"
)

type controllerFlags struct {
	kubeconfig  string
	qps         float32
	burst       int
	contentType string
	service     controllerflags.Service
	election    electionFlags
	job         controllerflags.Job
	schedules   controllerflags.Schedules
}

var clusterOffer = controllerflags.Offer{All: cluster.Controllers, OnRequest: cluster.OnRequest}

// NewCommand returns the command stint controller.
func NewCommand() *cobra.Command {
	var f controllerFlags
	cmd := &cobra.Command{
		Use:     "controller",
		Short:   "Manage the Jobs of a Kubernetes cluster",
		GroupID: command.GroupJobs,
		Long: `Manage the Jobs of a Kubernetes cluster: those with spec.managedBy ` + job.ManagedBy + ` or, with --managed-by,
others as well. Manage its ScheduledJobs, too, once deploy/crds/stint.dev_scheduledjobs.yaml is applied.

By default kube-controller-manager manages the CronJobs, as they have no field managedBy. --controllers=*,cronjob manages
them as well, preferably after kube-controller-manager was started with --controllers=*,-cronjob-controller. Even if both
manage them, each run starts once.

It runs in a pod of the cluster, as in deploy/stint.yaml, or anywhere with --kubeconfig. On SIGTERM or Ctrl-C it finishes
the writes in progress and releases its lease; a second Ctrl-C ends it at once.`,
		Args: command.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := f.options()
			if err != nil {
				return err
			}
			command.LogService(f.service.Verbosity)
			useOneProcessor()
			ctx, cancel := command.UntilInterrupted(cmd.Context())
			defer cancel()
			return cluster.Run(ctx, options)
		},
	}
	f.addFlags(cmd.Flags())
	return cmd
}

// useOneProcessor runs Go code on one processor at a time, unless the user sets GOMAXPROCS. One is enough for more pods than
// an API server can take, and with several, a seventh of the CPU time went into waking up threads.
func useOneProcessor() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

func (f *controllerFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file of the cluster (default: the cluster of this pod)")
	flags.Float32Var(&f.qps, "kube-api-qps", 20, "requests per second to the API server, less than 0 for no limit")
	flags.IntVar(&f.burst, "kube-api-burst", 30, "requests that may exceed --kube-api-qps for a moment")
	flags.StringVar(&f.contentType, "kube-api-content-type", apiruntime.ContentTypeProtobuf, "content type of requests: "+strings.Join(contentTypes, " or "))
	f.service.Add(flags, clusterOffer)
	f.election.add(flags)
	f.job.Add(flags, job.Options{
		ManagedBy:       []string{job.ManagedBy},
		ConcurrentSyncs: 5,
		SyncBatchPeriod: cluster.SyncBatchPeriod,

		MaxPodCreateDeletePerSync: cluster.MaxPodCreateDeletePerSync,
	})
	f.schedules.Add(flags, 5, 5)
}

func (f *controllerFlags) options() (cluster.Options, error) {
	if err := f.service.Check(clusterOffer); err != nil {
		return cluster.Options{}, err
	}
	if len(f.service.Controllers) == 0 {
		return cluster.Options{}, command.BadInputf("--controllers leaves none to run: there are %s", strings.Join(cluster.Controllers, ", "))
	}
	tuning, err := f.job.Checked()
	if err != nil {
		return cluster.Options{}, err
	}
	cronJob, scheduledJob, err := f.schedules.Checked()
	if err != nil {
		return cluster.Options{}, err
	}
	election, err := f.election.checked()
	if err != nil {
		return cluster.Options{}, err
	}
	config, err := f.config()
	if err != nil {
		return cluster.Options{}, err
	}
	return cluster.Options{Config: config, Controllers: f.service.Controllers, Election: election,
		Job: tuning, CronJob: cronJob, ScheduledJob: scheduledJob,
		MetricsListen: f.service.MetricsListen, Version: version.Get()}, nil
}

var contentTypes = []string{apiruntime.ContentTypeProtobuf, apiruntime.ContentTypeJSON}

// config returns the connection to the cluster, with its limits on requests.
func (f *controllerFlags) config() (*rest.Config, error) {
	if qps := float64(f.qps); qps == 0 || math.IsNaN(qps) || math.IsInf(qps, 0) {
		return nil, command.BadInputf("--kube-api-qps %v: write how many requests a second, or -1 for no limit", f.qps)
	}
	if f.qps > 0 && f.burst < 1 {
		return nil, command.BadInputf("--kube-api-burst %d: must be at least 1 (--kube-api-qps -1 is no limit)", f.burst)
	}
	if f.contentType != contentTypes[0] && f.contentType != contentTypes[1] {
		return nil, command.BadInputf("--kube-api-content-type %q: choose %s", f.contentType, strings.Join(contentTypes, " or "))
	}
	config, err := f.connection()
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst, config.ContentType = f.qps, f.burst, f.contentType
	config.WarningHandler = rest.NoWarnings{} // the client that created the Job has got them already
	config.UserAgent = fmt.Sprintf("stint-controller/%s (%s/%s)", version.Get(), runtime.GOOS, runtime.GOARCH)
	return config, nil
}

func (f *controllerFlags) connection() (*rest.Config, error) {
	if f.kubeconfig != "" {
		config, err := clientcmd.BuildConfigFromFlags("", f.kubeconfig)
		if clientcmd.IsEmptyConfig(err) {
			return nil, command.BadInputf("--kubeconfig %s: names no cluster", f.kubeconfig)
		}
		if err != nil {
			return nil, command.BadInputf("--kubeconfig %s: %w", f.kubeconfig, err)
		}
		return config, nil
	}
	config, err := rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return nil, command.BadInputf("no cluster: this process does not run in a pod; name a kubeconfig file with --kubeconfig")
	}
	if err != nil {
		return nil, fmt.Errorf("the cluster of this pod: %w", err)
	}
	return config, nil
}
