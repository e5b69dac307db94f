package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Observation is all that is known about one pod.
type Observation struct {
	Pod *corev1.Pod
	Now time.Time
	// Admitted: the pod has its resources and may start.
	Admitted bool
	// StartTime is when the pod was admitted.
	StartTime time.Time
	// Containers by name; a container that is missing was never started.
	Containers map[string]History
	// StartFailures are, by container name, why a start has failed so far.
	StartFailures map[string]StartFailure
	// Refusal is why this node cannot run the pod at all; nil if it can.
	Refusal *Refusal
	// Eviction is why the node ends the pod while it runs; nil if it does not.
	Eviction *Eviction
	// RestartAll is what the decision before has returned.
	RestartAll time.Time
	// Host is where the pod runs.
	Host Host
}

// Host is what a pod's status says of its node.
type Host struct {
	// IP is the address of the machine. PodIP is that of the pod; empty is the machine's.
	IP, PodIP string
	// Runtime is the scheme of container ids: the handler that runs the pod.
	Runtime string
	// MountsReadOnly: recursive read-only mounts hold.
	MountsReadOnly bool
}

// StartFailure is why a container cannot start yet. The start is tried again, and does not count as a failure of the
// container.
type StartFailure struct {
	// Reason is a waiting reason: CreateContainerConfigError …
	Reason  string
	Message string
	RetryAt time.Time
}

// Refusal ends a pod before it starts.
type Refusal struct {
	Reason  string
	Message string
}

// Eviction ends a pod that exceeds its limits of disk space.
type Eviction struct {
	Message string
	// At is when it was decided. A container that exited before has exited by itself.
	At time.Time
}

// Decision is what to do about the pod, in the order of the fields.
type Decision struct {
	Stop  []Stop
	Start []Start
	// Status is the status to report. Merge combines its conditions with those of other clients.
	Status corev1.PodStatus
	// Ending: the pod is to end. Of its probes only readiness probes are run.
	Ending bool
	// Ended: nothing of the pod runs or ever will; Status is final.
	Ended bool
	// RestartAll is when a container has last exited in a way that restarts all containers of the pod; zero is never.
	RestartAll time.Time
	// RequeueAt is when to decide again if nothing happens before; zero is never.
	RequeueAt time.Time
	// Events are to be recorded, each once.
	Events []Event
}

// Start asks for an attempt at a container.
type Start struct {
	Container *corev1.Container
	Attempt   int32
	// Target is the running attempt whose process ids the container is to share; nil if there is none.
	Target *runtime.ID
}

// Stop asks for the end of a running attempt.
type Stop struct {
	ID    runtime.ID
	Grace time.Duration
	// PreStop asks for the hook only, which may take this grace period. The attempt is told to stop by a later decision.
	PreStop bool
}

// Event is an event about the pod.
type Event struct {
	// Key is the same for the same occurrence, however often that is part of a decision.
	Key     EventKey
	Type    string
	Message string
}

// EventKey identifies an occurrence.
type EventKey struct {
	Reason    string
	Container string
	Attempt   int32
}
