package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/server"
)

type serverFlags struct {
	dataDir       string
	listen        string
	metricsListen string
	runtime       string
	criEndpoint   string
	allocatable   string
	verbosity     int
	job           job.Options
}

func newServer(streams genericiooptions.IOStreams) *cobra.Command {
	var f serverFlags
	cmd := &cobra.Command{
		Use:     "server",
		Short:   "Serve the Kubernetes API for Jobs and run them on this machine",
		GroupID: groupJobs,
		Long: `Serve the Kubernetes API for Jobs, pods and what belongs to them, and run the pods as processes of this machine.

It writes a kubeconfig into the data directory and prints how to use it. SIGTERM or Ctrl-C stops the server; pods run
on, and the next server takes them back.`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := f.options()
			if err != nil {
				return err
			}
			return serve(cmd.Context(), options, f.verbosity, streams.Out)
		},
	}
	f.addFlags(cmd.Flags())
	return cmd
}

func (f *serverFlags) addFlags(flags *pflag.FlagSet) {
	addDataDir(flags, &f.dataDir)
	flags.StringVar(&f.listen, "listen", "127.0.0.1:7443", "address to serve HTTPS on")
	flags.StringVar(&f.metricsListen, "metrics-bind-address", "", "address to serve /metrics, /healthz and /readyz on, over plain HTTP (default none)")
	flags.StringVar(&f.runtime, "runtime", "process", "what runs containers: process")
	flags.StringVar(&f.criEndpoint, "cri-endpoint", "", "socket of a container runtime (not there yet)")
	flags.StringVar(&f.allocatable, "allocatable", "", "what pods may request in sum, such as cpu=4,memory=8Gi (default: the machine)")
	flags.IntVarP(&f.verbosity, "v", "v", 0, "how much to log, 0 to 10")

	flags.StringSliceVar(&f.job.ManagedBy, "managed-by", []string{batchv1.JobControllerName, job.ManagedBy},
		"values of spec.managedBy of the Jobs to run; "+batchv1.JobControllerName+" takes those without one too")
	flags.IntVar(&f.job.ConcurrentSyncs, "concurrent-job-syncs", 0, "how many Jobs are worked on at the same time (default 16)")
	flags.DurationVar(&f.job.PodFailureBackoff, "pod-failure-backoff", 0, "delay after the first failure of a Job's pod (default 10s)")
	flags.DurationVar(&f.job.MaxPodFailureBackoff, "max-pod-failure-backoff", 0, "longest delay after failures (default 10m)")
	flags.DurationVar(&f.job.SyncBatchPeriod, "sync-batch-period", 0, "how long news of a Job may wait for more (default 20ms)")
	flags.IntVar(&f.job.MaxUncountedPods, "max-uncounted-pods", 500, "how many pods a Job's status lists as not counted yet")
	flags.IntVar(&f.job.MaxPodCreateDeletePerSync, "max-pod-create-delete-per-sync", 500, "how many pods one step creates or deletes")
}

func (f *serverFlags) options() (server.Options, error) {
	if f.runtime == "cri" || f.criEndpoint != "" {
		return server.Options{}, badInputf("containers through CRI are not there yet: leave --runtime and --cri-endpoint out")
	}
	if f.runtime != "process" {
		return server.Options{}, badInputf("--runtime %s is not there: use process", f.runtime)
	}
	if _, _, err := net.SplitHostPort(f.listen); err != nil {
		return server.Options{}, badInputf("--listen %q: write HOST:PORT, such as 127.0.0.1:7443", f.listen)
	}
	if _, _, err := net.SplitHostPort(f.metricsListen); f.metricsListen != "" && err != nil {
		return server.Options{}, badInputf("--metrics-bind-address %q: write HOST:PORT, such as 127.0.0.1:8080", f.metricsListen)
	}
	if err := f.checkJob(); err != nil {
		return server.Options{}, err
	}
	allocatable, err := parseResources(f.allocatable)
	if err != nil {
		return server.Options{}, err
	}
	dir, err := dataDir(f.dataDir)
	if err != nil {
		return server.Options{}, err
	}
	// A process has one server, so its metrics may be the process's.
	f.job.Registerer = legacyregistry.Registerer()
	return server.Options{DataDir: dir, Listen: f.listen, MetricsListen: f.metricsListen, Node: true,
		Allocatable: allocatable, Job: f.job, Version: stintVersion()}, nil
}

func (f *serverFlags) checkJob() error {
	for flag, n := range map[string]int64{
		"concurrent-job-syncs": int64(f.job.ConcurrentSyncs), "pod-failure-backoff": int64(f.job.PodFailureBackoff),
		"max-pod-failure-backoff": int64(f.job.MaxPodFailureBackoff), "sync-batch-period": int64(f.job.SyncBatchPeriod),
		"max-uncounted-pods": int64(f.job.MaxUncountedPods), "max-pod-create-delete-per-sync": int64(f.job.MaxPodCreateDeletePerSync),
	} {
		if n < 0 {
			return badInputf("--%s cannot be negative", flag)
		}
	}
	return nil
}

// serve runs a server until a signal ends it. A second signal ends the process at once: the store survives that.
func serve(ctx context.Context, o server.Options, verbosity int, out io.Writer) error {
	logLibraries(verbosity)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals, stop := interrupts()
	go func() {
		<-signals
		stop()
		cancel()
	}()
	s, err := server.Start(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if err := greet(out, s.KubeconfigPath()); err != nil {
		return err
	}
	return s.Wait()
}

// greet tells how to use the server.
func greet(out io.Writer, kubeconfig string) error {
	path, err := filepath.Abs(kubeconfig)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return fmt.Errorf("read back the kubeconfig: %w", err)
	}
	_, err = fmt.Fprintf(out, `stint serves the Kubernetes API at %s. In another terminal:

  stint get jobs

or, for kubectl and other clients:

  export KUBECONFIG=%s
  kubectl get jobs

Ctrl-C stops the server; pods run on.
`, config.Host, path)
	return err
}
