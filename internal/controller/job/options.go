package job

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	core "github.com/stint-dev/stint/internal/job"
)

// ManagedBy is the value of spec.managedBy that hands a Job to Stint on a cluster with another Job controller.
const ManagedBy = core.ManagedBy

// DefaultMaxResults is Options.MaxResults where that is nil.
const DefaultMaxResults = 100_000

// Options tune a Controller. The zero value is ready for the embedded server.
type Options struct {
	// ManagedBy are the values of spec.managedBy of the Jobs to run. batchv1.JobControllerName includes the Jobs without
	// the field. Empty takes both that and ManagedBy.
	ManagedBy []string
	// ConcurrentSyncs is how many Jobs are synced at the same time; 0 is 5.
	ConcurrentSyncs int
	// PodFailureBackoff is the delay after a first failure; 0 is 10 s.
	PodFailureBackoff time.Duration
	// MaxPodFailureBackoff bounds the delay; 0 is 10 min.
	MaxPodFailureBackoff time.Duration
	// SyncBatchPeriod is how long changes of a Job may wait so that one write stores several; 0 is 20 ms.
	SyncBatchPeriod time.Duration
	// MaxUncountedPods bounds the UIDs that a Job's status lists; 0 is 500.
	MaxUncountedPods int
	// MaxPodCreateDeletePerSync bounds the pods that one sync creates or deletes; 0 is 500.
	MaxPodCreateDeletePerSync int
	// MaxResults bounds the results that are kept of a Job, the newest; nil is DefaultMaxResults, 0 keeps none.
	MaxResults *int
	// FailedPodsLimit bounds the failed pods that are kept of a Job without the annotation; nil keeps all.
	FailedPodsLimit *int

	// TerminatedPodsLimit is core.Settings.TerminatedPodsLimit. It needs a client in process.
	TerminatedPodsLimit int

	// QueuedPodsAreNotPending is core.Settings.QueuedPodsAreNotPending.
	QueuedPodsAreNotPending bool

	// Registerer takes the controller's metrics; nil leaves them unregistered.
	Registerer prometheus.Registerer
	// Clock is the real one where nil.
	Clock clock.WithTicker
}

func (o Options) withDefaults() Options {
	d := core.DefaultSettings()
	if len(o.ManagedBy) == 0 {
		o.ManagedBy = []string{batchv1.JobControllerName, ManagedBy}
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	orDefault(&o.ConcurrentSyncs, 5)
	orDefault(&o.PodFailureBackoff, d.PodFailureBackoff)
	orDefault(&o.MaxPodFailureBackoff, d.MaxPodFailureBackoff)
	orDefault(&o.SyncBatchPeriod, 20*time.Millisecond)
	orDefault(&o.MaxUncountedPods, d.MaxUncountedPods)
	orDefault(&o.MaxPodCreateDeletePerSync, d.MaxPodCreateDelete)
	if o.MaxResults == nil {
		o.MaxResults = ptr.To(DefaultMaxResults)
	}
	return o
}

func orDefault[T int | time.Duration](v *T, otherwise T) {
	if *v == 0 {
		*v = otherwise
	}
}

// Settings returns what a controller with these options decides by.
func (o Options) Settings() core.Settings { return o.withDefaults().settings() }

func (o Options) settings() core.Settings {
	return core.Settings{
		PodFailureBackoff:       o.PodFailureBackoff,
		MaxPodFailureBackoff:    o.MaxPodFailureBackoff,
		MaxUncountedPods:        o.MaxUncountedPods,
		MaxPodCreateDelete:      o.MaxPodCreateDeletePerSync,
		FailedPodsLimit:         o.FailedPodsLimit,
		TerminatedPodsLimit:     o.TerminatedPodsLimit,
		QueuedPodsAreNotPending: o.QueuedPodsAreNotPending,
	}
}

// manages reports whether this controller runs job.
func (o Options) manages(job *batchv1.Job) bool {
	return slices.Contains(o.ManagedBy, core.ManagerOf(job))
}
