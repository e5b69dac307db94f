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
	// the tracking finalizer. Pods that are counted and have no finalizer are welcome but change nothing.
	Pods []*corev1.Pod
	// Now is the time of the decision.
	Now time.Time
	// InFlight are the observer's own writes that Pods does not show yet.
	InFlight InFlight
	// NextCreateAt is until when the server, which refused the last pods, shall not be asked for others.
	NextCreateAt time.Time
	// NamespaceTerminating: the server makes none any more, as the namespace is being deleted. It goes when its pods have.
	NamespaceTerminating bool
	// History tells the newest successes and failures among pods that may be gone from Pods.
	History History
	// Dependencies are the Jobs that this one depends on, those that were met before may be missing.
	Dependencies []Dependency
	// FailedPods are pods that are counted as failed and still there. They are told only where their number is limited.
	FailedPods []*corev1.Pod
	// CreateFailure is set while the server refuses the Job's pods.
	CreateFailure *CreateFailure
	Settings
}

// CreateFailure is why the server makes no pods.
type CreateFailure struct {
	// Since and Last are when it refused the first and the last in an unbroken row.
	Since, Last time.Time
	// Message is what it said last.
	Message string
}

// InFlight names pods by UID whose change was accepted by the server but is not seen yet.
type InFlight struct {
	// Deleted pods have been told to end.
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
	// FailedPodsLimit bounds the failed pods that are kept of a Job that says nothing; nil keeps all.
	FailedPodsLimit *int
	// QueuedPodsAreNotPending tells that pods wait for a node with room by design, and are not stuck while they do.
	QueuedPodsAreNotPending bool
}

// DefaultSettings are upstream's.
func DefaultSettings() Settings {
	return Settings{
		PodFailureBackoff:    10 * time.Second,
		MaxPodFailureBackoff: 10 * time.Minute,
		MaxUncountedPods:     500,
		MaxPodCreateDelete:   500,
	}
}

// ObserveStored is the observation of who has no memory of the Job, as of a controller that has just started.
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
