// Package server is the command stint server.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/controllerflags"
	"github.com/stint-dev/stint/internal/cli/nodeflags"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/cli/targetflags"
	"github.com/stint-dev/stint/internal/cli/version"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/datadir"
	"github.com/stint-dev/stint/internal/server"
	"github.com/stint-dev/stint/internal/store"
)

// serverSyncBatchPeriod is short: on one machine a write costs little.
const serverSyncBatchPeriod = 20 * time.Millisecond

type serverFlags struct {
	dataDir     string
	start       targetflags.StartTimeout
	listen      string
	runtime     nodeflags.Runtime
	imageGC     nodeflags.ImageGC
	criEndpoint string
	allocatable string
	keepLogs    nodeflags.KeepLogs
	memory      nodeflags.MemoryLimit
	quota       nodeflags.Quota
	maxPIDs     nodeflags.PodMaxPIDs
	keyring     nodeflags.SessionKeyring
	classes     nodeflags.LocalStorageClasses
	service     controllerflags.Service
	job         controllerflags.Job
	schedules   controllerflags.Schedules
	terminated  controllerflags.TerminatedPods
}

// NewCommand returns the command stint server.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var f serverFlags
	cmd := &cobra.Command{
		Use:     "server",
		Short:   "Serve the Kubernetes API for Jobs and run them on this machine",
		GroupID: command.GroupJobs,
		Long: `Serve the Kubernetes API for Jobs, pods and related kinds, and run the pods on this machine, from their images or, with
--runtime process, as processes of this machine.

It writes a kubeconfig into the data directory and prints how to use it. SIGTERM or Ctrl-C stops the server; pods keep
running, and the next server takes them over.`,
		Args: command.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := f.options()
			if err != nil {
				return err
			}
			// KUBECONFIG may be set in the other terminal, too.
			other := targetflags.Flags{DataDir: f.dataDir, Local: os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != ""}
			caller := other.Caller(options.DataDir)
			return serve(cmd.Context(), options, f.service.Verbosity, caller, streams.Out)
		},
	}
	f.addFlags(cmd.Flags())
	return cmd
}

func (f *serverFlags) addFlags(flags *pflag.FlagSet) {
	targetflags.AddDataDir(flags, &f.dataDir)
	f.start.Add(flags)
	flags.StringVar(&f.listen, "listen", "127.0.0.1:7443", "address to serve HTTPS on")
	f.runtime.Add(flags)
	f.imageGC.Add(flags)
	flags.StringVar(&f.criEndpoint, "cri-endpoint", "", "socket of a container runtime (not supported yet)")
	flags.StringVar(&f.allocatable, "allocatable", "", "what all pods together may request, such as cpu=4,memory=8Gi (default: the machine)")
	f.keepLogs.Add(flags)
	f.memory.Add(flags)
	f.quota.Add(flags)
	f.maxPIDs.Add(flags)
	f.keyring.Add(flags)
	f.classes.Add(flags)
	f.service.Add(flags, controllerflags.Offer{All: server.Controllers})
	f.job.Add(flags, job.Options{
		ManagedBy:       []string{batchv1.JobControllerName, job.ManagedBy},
		ConcurrentSyncs: server.ConcurrentJobSyncs,
		SyncBatchPeriod: serverSyncBatchPeriod,
	})
	f.schedules.Add(flags, server.ConcurrentCronJobSyncs, server.ConcurrentScheduledJobSyncs)
	f.terminated.Add(flags)
}

// check checks the flags that concern what is served.
func (f *serverFlags) check() error {
	if f.criEndpoint != "" {
		return command.BadInputf("containers through CRI are not supported yet: leave --cri-endpoint out")
	}
	if err := controllerflags.CheckAddress("listen", f.listen, "127.0.0.1:7443"); err != nil {
		return err
	}
	return f.service.Check(controllerflags.Offer{All: server.Controllers})
}

func (f *serverFlags) options() (server.Options, error) {
	if err := f.check(); err != nil {
		return server.Options{}, err
	}
	tuning, err := f.job.Checked()
	if err != nil {
		return server.Options{}, err
	}
	cronJob, scheduledJob, err := f.schedules.Checked()
	if err != nil {
		return server.Options{}, err
	}
	allocatable, err := nodeflags.ParseAllocatable(f.allocatable)
	if err != nil {
		return server.Options{}, err
	}
	keep, err := f.keepLogs.Bytes()
	if err != nil {
		return server.Options{}, err
	}
	memoryLimit, err := f.memory.Bytes()
	if err != nil {
		return server.Options{}, err
	}
	quota, err := f.quota.Bytes()
	if err != nil {
		return server.Options{}, err
	}
	maxPIDs, err := f.maxPIDs.Checked()
	if err != nil {
		return server.Options{}, err
	}
	keepKeyring, err := f.keyring.Keep()
	if err != nil {
		return server.Options{}, err
	}
	classes, err := f.classes.Checked()
	if err != nil {
		return server.Options{}, err
	}
	timeout, err := f.start.Checked()
	if err != nil {
		return server.Options{}, err
	}
	class, err := f.runtime.Class()
	if err != nil {
		return server.Options{}, err
	}
	imageGC, err := f.imageGC.Policy()
	if err != nil {
		return server.Options{}, err
	}
	dir, err := targetflags.AbsoluteDataDir(f.dataDir)
	if err != nil {
		return server.Options{}, err
	}
	return server.Options{DataDir: dir, StartTimeout: timeout, Listen: f.listen, MetricsListen: f.service.MetricsListen, Node: true,
		Allocatable: allocatable, KeepLogs: keep, MemoryLimit: memoryLimit, StoreQuota: quota, PodMaxPIDs: maxPIDs, KeepSessionKeyring: keepKeyring, RuntimeClass: class, ImageDir: f.runtime.ImageDir, ImageGC: imageGC,
		LocalStorageClasses: classes,
		Controllers:         f.service.Controllers, TerminatedPodGCThreshold: f.terminated.Threshold(), Job: tuning, CronJob: cronJob, ScheduledJob: scheduledJob, Version: version.Get()}, nil
}

// serve runs a server until a signal ends it. A second signal ends the process at once, which does not damage the store.
func serve(ctx context.Context, o server.Options, verbosity int, caller target.Caller, out io.Writer) error {
	command.LogLibraries(verbosity)
	ctx, cancel := command.UntilInterrupted(ctx)
	defer cancel()
	s, unlock, err := start(ctx, o)
	defer unlock()
	defer context.AfterFunc(ctx, unlock)() // From then on the next server waits for the store.
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if err := printUsage(out, caller, s.KubeconfigPath()); err != nil {
		return err
	}
	if !onlyLocal(o.Listen) {
		if _, err := fmt.Fprintln(out, "\nOther machines can connect, too: "+whoMayWhat); err != nil {
			return err
		}
	}
	return s.Wait()
}

// start starts a server when no other process uses its data directory. Other servers are asked to end by their users, commands that
// read the directory end by themselves, and runs that serve it make way.
func start(ctx context.Context, o server.Options) (s *server.Server, unlock func(), err error) {
	waiting, stop := context.WithTimeout(ctx, o.StartTimeout)
	defer stop()
	if _, err := datadir.Make(o.DataDir); err != nil {
		return nil, func() {}, err
	}
	unlock, err = whenUnlocked(waiting, shutdownTimeout, func() (func(), error) { return store.LockForServer(o.DataDir) })
	if err != nil {
		return nil, func() {}, err
	}
	s, err = whenUnlocked(waiting, o.StartTimeout, func() (*server.Server, error) {
		if err := store.CheckUnlocked(o.DataDir); err != nil {
			return nil, err
		}
		return server.Start(ctx, o)
	})
	return s, unlock, err
}

// shutdownTimeout is how long to wait for another server, as it may be stopping. After that the start fails with an error that names
// its process.
const shutdownTimeout = 3 * time.Second

// whenUnlocked calls take until it finds that no other process holds the lock, or until the limit.
func whenUnlocked[T any](ctx context.Context, limit time.Duration, take func() (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	notice := time.Now().Add(shutdownTimeout)
	for {
		taken, err := take()
		var locked *store.LockedError
		if !errors.As(err, &locked) {
			return taken, err
		}
		if limit > shutdownTimeout && time.Now().After(notice) {
			notice = notice.Add(limit)
			slog.Warn(fmt.Sprintf("waiting up to %s for the data directory: %v", limit, err))
		}
		select {
		case <-ctx.Done():
			return taken, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

const whoMayWhat = "requests need the certificate or the token of the kubeconfig, with which a client can run commands here."

// onlyLocal reports whether the address is on the loopback interface.
func onlyLocal(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// printUsage prints how to use the server.
func printUsage(out io.Writer, caller target.Caller, kubeconfig string) error {
	path, err := filepath.Abs(kubeconfig)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return fmt.Errorf("read back the kubeconfig: %w", err)
	}
	_, err = fmt.Fprintf(out, `stint serves the Kubernetes API at %s. In another terminal:

  %s

or, for kubectl and other clients:

  export KUBECONFIG=%s
  kubectl get jobs

Ctrl-C stops the server; pods keep running.
`, config.Host, caller.Command("", "get", "jobs"), target.ShellWord(path))
	return err
}
