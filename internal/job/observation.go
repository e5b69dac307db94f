package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/internal/podstatus"
)

// Observation is all that a decision depends on. Decide changes nothing in it.
type Observation struct {
	// Job is the newest version known; its status must be the persisted one, since pods are counted against it.
	Job *batchv1.Job
	// Pods are the pods that the Job controls or could adopt and that still matter: active, terminating, or with
	// the tracking finalizer. Pods that are counted and have no finalizer may be included; they change nothing.
	Pods []*corev1.Pod
	// Now is the time of the decision.
	Now time.Time
	// InFlight are the observer's own writes that Pods does not show yet.
	InFlight InFlight
	// NextCreateAt is when pods may be created again after the API server refused the last ones.
	NextCreateAt time.Time
	// NamespaceTerminating is set if the API server creates no pods any more, as the namespace is being deleted. Deletion
	// needs the finalizers of all pods removed.
	NamespaceTerminating bool
	// History has the newest success and failures, also of pods that are no longer in Pods.
	History History
	// Dependencies are the Jobs that this one depends on. Those that its status shows as met may be missing.
	Dependencies []Dependency
	// FailedPods are pods that are counted as failed and still exist. They are needed only if their number is limited.
	FailedPods []*corev1.Pod
	// TerminatedPods are needed only if their number is limited, and may be a little out of date.
	TerminatedPods TerminatedPods
	// CreateFailure is set while the API server refuses the Job's pods.
	CreateFailure *CreateFailure
	Settings
}

// CreateFailure is why the API server refuses to create pods.
type CreateFailure struct {
	// Since and Last are when it refused the first and the last of several pods in a row.
	Since, Last time.Time
	// Message is its last error.
	Message string
}

// InFlight are the UIDs of pods whose change the API server has accepted but the informer does not show yet.
type InFlight struct {
	// Deleted pods have got a deletion timestamp, or are gone.
	Deleted sets.Set[types.UID]
	// FinalizerRemoved pods have lost the tracking finalizer.
	FinalizerRemoved sets.Set[types.UID]
}

// Settings are the same for all Jobs of a controller.
type Settings struct {
	// PodFailureBackoff is the delay after the first failure; each further one doubles it.
	PodFailureBackoff time.Duration
	// MaxPodFailureBackoff bounds the delay.
	MaxPodFailureBackoff time.Duration
	// MaxUncountedPods bounds the UIDs that a status lists.
	MaxUncountedPods int
	// MaxPodCreateDelete bounds the pods that one decision creates or removes to meet parallelism.
	MaxPodCreateDelete int
	// FailedPodsLimit bounds the failed pods that are kept of a Job without that annotation; nil keeps all.
	FailedPodsLimit *int
	// TerminatedPodsLimit is about how many terminated pods the Jobs leave together. Pods that succeed beyond it are deleted with
	// their finalizer. 0 keeps all.
	TerminatedPodsLimit int
	// QueuedPodsAreNotPending is set if the nodes queue pods until resources are free. Pending timeouts then do not run
	// while a pod is queued, unless the annotation PendingTimeoutIncludesQueueing says so.
	QueuedPodsAreNotPending bool
}

// DefaultSettings returns the settings of Kubernetes' own Job controller.
func DefaultSettings() Settings {
	return Settings{
		PodFailureBackoff:    10 * time.Second,
		MaxPodFailureBackoff: 10 * time.Minute,
		MaxUncountedPods:     500,
		MaxPodCreateDelete:   500,
	}
}

// ObserveStored returns what a controller observes that has just started: it knows only what is stored.
func ObserveStored(job *batchv1.Job, pods []*corev1.Pod, now time.Time, s Settings) Observation {
	obs := Observation{Job: job, Now: now, Settings: s}
	for _, p := range pods {
		if metav1.IsControlledBy(p, job) && podstatus.IsTerminated(p) && (p.DeletionTimestamp == nil || HasFinalizer(p)) {
			obs.History.Add(p)
		}
		obs.Pods = append(obs.Pods, p)
	}
	return obs
}
