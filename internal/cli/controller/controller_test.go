package controller

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cluster"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
)

const someCluster = `{apiVersion: v1, kind: Config, current-context: c,
contexts: [{name: c, context: {cluster: c, user: u}}],
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}], users: [{name: u, user: {token: t}}]}`

func TestFlagsReachTheController(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(someCluster), 0o600); err != nil {
		t.Fatal(err)
	}
	defaults := cluster.Options{
		Controllers: []string{"job", "scheduledjob"}, CronJob: cronjob.Options{ConcurrentSyncs: 5}, ScheduledJob: scheduledjob.Options{ConcurrentSyncs: 5},
		Config: &rest.Config{QPS: 20, Burst: 30, ContentConfig: rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"}},
		Job: job.Options{ManagedBy: []string{"stint.dev/job-controller"}, ConcurrentSyncs: 5, PodFailureBackoff: 10 * time.Second,
			MaxPodFailureBackoff: 10 * time.Minute, SyncBatchPeriod: cluster.SyncBatchPeriod, MaxUncountedPods: 500, MaxPodCreateDeletePerSync: 50,
			MaxResults: ptr.To(100_000)},
		Election: &cluster.Election{Namespace: "kube-system", Name: "stint-controller",
			LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second},
	}
	for name, test := range map[string]struct {
		args []string
		want cluster.Options
	}{
		"defaults": {nil, defaults},
		"all": {
			[]string{"--managed-by=a.b/c,kubernetes.io/job-controller", "--concurrent-job-syncs=1", "--pod-failure-backoff=2s",
				"--max-pod-failure-backoff=3s", "--sync-batch-period=4s", "--max-uncounted-pods=5", "--max-pod-create-delete-per-sync=6",
				"--max-results=7", "--failed-pods-limit=0",
				"--kube-api-qps=7.5", "--kube-api-burst=8", "--kube-api-content-type=application/json",
				"--leader-elect-resource-namespace=ns", "--leader-elect-resource-name=l", "--leader-elect-lease-duration=9s",
				"--leader-elect-renew-deadline=8s", "--leader-elect-retry-period=1s", "--metrics-bind-address=:10", "--controllers=job-controller,cronjob",
				"--concurrent-cron-job-syncs=3", "--concurrent-scheduled-job-syncs=2"},
			cluster.Options{
				Controllers: []string{"job", "cronjob"}, CronJob: cronjob.Options{ConcurrentSyncs: 3}, ScheduledJob: scheduledjob.Options{ConcurrentSyncs: 2},
				Config: &rest.Config{QPS: 7.5, Burst: 8, ContentConfig: rest.ContentConfig{ContentType: "application/json"}},
				Job: job.Options{ManagedBy: []string{"a.b/c", "kubernetes.io/job-controller"}, ConcurrentSyncs: 1, PodFailureBackoff: 2 * time.Second,
					MaxPodFailureBackoff: 3 * time.Second, SyncBatchPeriod: 4 * time.Second, MaxUncountedPods: 5, MaxPodCreateDeletePerSync: 6,
					MaxResults: ptr.To(7), FailedPodsLimit: ptr.To(0)},
				Election:      &cluster.Election{Namespace: "ns", Name: "l", LeaseDuration: 9 * time.Second, RenewDeadline: 8 * time.Second, RetryPeriod: time.Second},
				MetricsListen: ":10",
			},
		},
		"no election and no limit": {
			[]string{"--leader-elect=false", "--kube-api-qps=-1", "--kube-api-burst=0"},
			cluster.Options{Config: &rest.Config{QPS: -1, ContentConfig: defaults.Config.ContentConfig}, Job: defaults.Job,
				Controllers: defaults.Controllers, CronJob: defaults.CronJob, ScheduledJob: defaults.ScheduledJob},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var f controllerFlags
			flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
			f.addFlags(flags)
			if err := flags.Parse(append(test.args, "--kubeconfig", kubeconfig)); err != nil {
				t.Fatal(err)
			}
			got, err := f.options()
			if err != nil {
				t.Fatal(err)
			}
			if got.Config.Host != "https://127.0.0.1:1" || got.Config.BearerToken != "t" || got.Job.Registerer == nil || got.CronJob.Registerer == nil || got.ScheduledJob.Registerer == nil {
				t.Errorf("it goes to %s with the token %q and metrics %v", got.Config.Host, got.Config.BearerToken, got.Job.Registerer)
			}
			got.Config = &rest.Config{QPS: got.Config.QPS, Burst: got.Config.Burst, ContentConfig: got.Config.ContentConfig}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(job.Options{}, "Registerer", "Clock"),
				cmpopts.IgnoreFields(cronjob.Options{}, "Registerer"), cmpopts.IgnoreFields(scheduledjob.Options{}, "Registerer"),
				cmpopts.IgnoreFields(cluster.Options{}, "Version"), cmpopts.IgnoreFields(rest.ContentConfig{}, "NegotiatedSerializer", "GroupVersion"),
				cmpopts.IgnoreUnexported(rest.Config{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryFlagOfTheControllerIsInItsDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	NewCommand().Flags().VisitAll(func(flag *pflag.Flag) {
		if name := "`--" + flag.Name + "`"; len(flag.Name) > 1 && !strings.Contains(string(text), name) {
			t.Errorf("docs/cluster.md does not tell of %s", name)
		}
	})
}

func TestOneProcessorUnlessTheUserChooses(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	for chosen, want := range map[string]int{"": 1, "3": 3} {
		t.Setenv("GOMAXPROCS", chosen)
		runtime.GOMAXPROCS(3)
		useOneProcessor()
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("%d processors with GOMAXPROCS=%q, want %d", got, chosen, want)
		}
	}
}
