package controllerflags

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/controller/job"
	core "github.com/stint-dev/stint/internal/job"
)

// Job are the flags of the Job controller, on one machine and on a cluster.
type Job struct {
	options    job.Options
	maxResults int
}

// Add defines the flags, with the defaults of d and those that are the same for all commands.
func (f *Job) Add(flags *pflag.FlagSet, d job.Options) {
	o, same := &f.options, core.DefaultSettings()
	flags.StringSliceVar(&o.ManagedBy, "managed-by", d.ManagedBy,
		"values of spec.managedBy of the Jobs to manage; "+batchv1.JobControllerName+" also means Jobs without the field")
	flags.IntVar(&o.ConcurrentSyncs, "concurrent-job-syncs", d.ConcurrentSyncs, "how many Jobs are synced at the same time")
	flags.DurationVar(&o.PodFailureBackoff, "pod-failure-backoff", same.PodFailureBackoff, "delay after the first failure of a Job's pod")
	flags.DurationVar(&o.MaxPodFailureBackoff, "max-pod-failure-backoff", same.MaxPodFailureBackoff, "longest delay after failures")
	flags.DurationVar(&o.SyncBatchPeriod, "sync-batch-period", d.SyncBatchPeriod, "how long a write of a Job's status may wait for further changes")
	flags.IntVar(&o.MaxUncountedPods, "max-uncounted-pods", same.MaxUncountedPods, "how many pods a Job's status lists as not counted yet")
	flags.IntVar(&o.MaxPodCreateDeletePerSync, "max-pod-create-delete-per-sync", cmp.Or(d.MaxPodCreateDeletePerSync, same.MaxPodCreateDelete), "how many pods one sync creates or deletes")
	flags.IntVar(&f.maxResults, "max-results", job.DefaultMaxResults, "how many results of a Job's pods to keep, the newest; 0 keeps none")
	flags.Var(limitFlag{&o.FailedPodsLimit}, "failed-pods-limit",
		"how many failed pods to keep of a Job without the annotation, the newest (default all)")
}

// limitFlag is an optional number: nil if the flag is not given.
type limitFlag struct{ limit **int }

func (f limitFlag) Type() string { return "int" }

func (f limitFlag) String() string {
	if f.limit == nil || *f.limit == nil {
		return ""
	}
	return strconv.Itoa(**f.limit)
}

func (f limitFlag) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return errors.New("must be a whole number, 0 or more: leave the flag out to keep all")
	}
	limit := int(n)
	*f.limit = &limit
	return nil
}

// Checked returns the options, with the metrics of this process.
func (f *Job) Checked() (job.Options, error) {
	o := f.options
	if o.MaxResults = &f.maxResults; f.maxResults < 0 {
		return o, command.BadInputf("--max-results %d: must not be negative; 0 keeps no results", f.maxResults)
	}
	for _, n := range []struct {
		flag  string
		value int
	}{
		{"concurrent-job-syncs", o.ConcurrentSyncs},
		{"max-uncounted-pods", o.MaxUncountedPods},
		{"max-pod-create-delete-per-sync", o.MaxPodCreateDeletePerSync},
	} {
		if n.value < 1 {
			return o, command.BadInputf("--%s %d: must be at least 1", n.flag, n.value)
		}
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{
		{"pod-failure-backoff", o.PodFailureBackoff},
		{"max-pod-failure-backoff", o.MaxPodFailureBackoff},
		{"sync-batch-period", o.SyncBatchPeriod},
	} {
		if d.value <= 0 {
			return o, command.BadInputf("--%s %v: must be more than 0; 1ms is as good as none", d.flag, d.value)
		}
	}
	if o.MaxPodFailureBackoff < o.PodFailureBackoff {
		return o, command.BadInputf("--max-pod-failure-backoff %v: must be at least --pod-failure-backoff, which is %v",
			o.MaxPodFailureBackoff, o.PodFailureBackoff)
	}
	if err := checkManagers(o.ManagedBy); err != nil {
		return o, err
	}
	// A process runs one Job controller, so it can use the registry of the process.
	o.Registerer = legacyregistry.Registerer()
	return o, nil
}

// checkManagers refuses values that spec.managedBy cannot have.
func checkManagers(names []string) error {
	if len(names) == 0 {
		return command.BadInputf("--managed-by is empty: name %s, %s or both", job.ManagedBy, batchv1.JobControllerName)
	}
	for _, name := range names {
		if errs := validation.IsDomainPrefixedPath(field.NewPath("managedBy"), name); len(errs) > 0 {
			return command.BadInputf("--managed-by %q: write DOMAIN/PATH, such as %s", name, job.ManagedBy)
		}
	}
	return nil
}
