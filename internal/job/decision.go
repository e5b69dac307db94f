package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/internal/podstatus"
)

// Decision is what shall be done, in the order of its fields. A step that fails does not stop the steps up to Status;
// without Status stored nothing after it may happen.
type Decision struct {
	// Adopt are orphans to put under the Job's control. All else then waits for the next decision.
	Adopt []*corev1.Pod
	// Release are pods that no longer match the selector: the Job's reference and the finalizer go.
	Release []*corev1.Pod
	// Create are new pods, lowest index first.
	Create []*corev1.Pod
	// DeleteUncounted are pods to end uncounted (suspension, scale-down): first the finalizer goes, then the pod.
	DeleteUncounted []*corev1.Pod
	// Delete are pods to end because the Job failed. They count as failed, and so are among Release too.
	Delete []*corev1.Pod

	// FailPending are pods to be made Failed, as they cannot start.
	FailPending []PendingTooLong
	// DeleteFailed are counted failed pods beyond the limit, to delete.
	DeleteFailed []*corev1.Pod

	// RemoveFinalizer are pods that the next status accounts for (the persisted one, where nothing is to be written): their
	// tracking finalizer may go.
	RemoveFinalizer []*corev1.Pod
	// Events tell what the next status says; record them once it is stored.
	Events []Event
	// Counts are increments for metrics, under the same condition.
	Counts Counts

	// Action is what became of the pods, as the metrics call it.
	Action Action

	// Requeue asks for another decision as soon as this one is applied.
	Requeue bool
	// RequeueFair tells that something is left to do, for one because of a bound: another decision is wanted once other Jobs
	// have had their turn.
	RequeueFair bool
	// RequeueAfter, where positive, is when time alone changes the decision.
	RequeueAfter time.Duration

	persisted, next *batchv1.JobStatus
	// uncountedListFull tells that the status has no room for more ended pods.
	uncountedListFull bool
}

// PendingTooLong is a pod that has not started in time.
type PendingTooLong struct {
	Pod *corev1.Pod
	// Reason and Message are what it was stuck for.
	Reason, Message string

	limit startLimit
}

// Event is for the Job's reader.
type Event struct {
	// Type is Normal or Warning.
	Type, Reason, Message string
}

// Action names what a decision does about living pods. The names are upstream's.
type Action string

// The actions.
const (
	// Reconciling is settling the Job's end, or waiting for others.
	Reconciling Action = "reconciling"
	// Tracking is having the right pods already.
	Tracking Action = "tracking"
	// PodsCreated includes waiting for the delay after a failure.
	PodsCreated Action = "pods_created"
	// PodsDeleted includes every look at a suspended Job.
	PodsDeleted Action = "pods_deleted"
)

// Outcome tells what came of a decision's pod creations and removals.
type Outcome struct {
	// NotCreated is the number of pods of Create that do not exist.
	NotCreated int
	// NotDeleted are pods of Discard and Delete that were not told to end.
	NotDeleted []*corev1.Pod
	// AlreadyDeleted are pods of Discard and Delete that are no more. Somebody took their finalizer, and so decided what they count.
	AlreadyDeleted []*corev1.Pod
}

// WriteUrgency tells how long a status may stay unwritten. A later decision repeats it.
type WriteUrgency int

const (
	// Immediate is a status that others wait for.
	Immediate WriteUrgency = iota
	// Batched is a status that only lists ended pods. Until it is stored, none of Release may happen.
	Batched
	// Deferrable is a status that could be worked out again from the pods alone. Nothing depends on it.
	Deferrable
)

// Status returns the status to store after the pods were created and removed, or nil if it is stored already.
func (d Decision) Status(o Outcome) (next *batchv1.JobStatus, patience WriteUrgency) {
	next = d.next.DeepCopy()
	if len(d.Adopt) > 0 {
		return nil, Immediate
	}
	next.Active -= int32(o.NotCreated)
	for _, p := range o.NotDeleted {
		next.Active++
		*next.Terminating--
		if podstatus.IsReady(p) {
			*next.Ready++
		}
	}
	*next.Terminating -= int32(len(o.AlreadyDeleted))
	next.UncountedTerminatedPods.Failed = slices.DeleteFunc(next.UncountedTerminatedPods.Failed, d.notToList(o))
	if equality.Semantic.DeepEqual(d.persisted, next) {
		return nil, Immediate
	}
	return next, d.urgency(next)
}

func (d Decision) urgency(next *batchv1.JobStatus) WriteUrgency {
	switch {
	case recomputable(d.persisted, next):
		return Deferrable
	case recomputable(d.persisted, withoutTerminated(d.persisted, next)) && !d.uncountedListFull:
		return Batched
	default:
		return Immediate
	}
}

// withoutTerminated returns next less what it says about ended pods.
func withoutTerminated(old, next *batchv1.JobStatus) *batchv1.JobStatus {
	s := next.DeepCopy()
	s.UncountedTerminatedPods, s.CompletedIndexes, s.FailedIndexes = old.UncountedTerminatedPods, old.CompletedIndexes, old.FailedIndexes
	return s
}

// FinalizersToRemove returns the pods of Release without those that run on because they could not be told to end, and those that
// are gone.
func (d Decision) FinalizersToRemove(o Outcome) []*corev1.Pod {
	spared := d.notToList(o)
	return slices.DeleteFunc(slices.Clone(d.RemoveFinalizer), func(p *corev1.Pod) bool { return spared(p.UID) })
}

// notToList tells which pods the next status must not list after all. What is listed already has to stay.
func (d Decision) notToList(o Outcome) func(types.UID) bool {
	listed := orEmpty(d.persisted.UncountedTerminatedPods).Failed
	spared := sets.New[types.UID]()
	for _, p := range slices.Concat(o.NotDeleted, o.AlreadyDeleted) {
		if !slices.Contains(listed, p.UID) {
			spared.Insert(p.UID)
		}
	}
	return spared.Has
}

// IsNoop tells that nothing is to be done until something changes.
func (d Decision) IsNoop() bool {
	next, _ := d.Status(Outcome{})
	pods := len(d.Adopt) + len(d.Release) + len(d.Create) + len(d.DeleteUncounted) + len(d.Delete) + len(d.FailPending) + len(d.DeleteFailed) + len(d.RemoveFinalizer)
	return next == nil && pods == 0 && !d.Requeue && !d.RequeueFair
}

// recomputable tells that next could be worked out again from the pods alone if it were not stored: it differs from
// old in numbers of living pods, in the start, and in pods that moved from the list to the counters.
func recomputable(old, next *batchv1.JobStatus) bool {
	was := old.DeepCopy()
	was.Active, was.Ready, was.Terminating = next.Active, next.Ready, next.Terminating
	was.Succeeded, was.Failed = next.Succeeded, next.Failed
	if was.StartTime == nil {
		was.StartTime = next.StartTime
	}
	listed, now := orEmpty(old.UncountedTerminatedPods), orEmpty(next.UncountedTerminatedPods)
	if !subset(now.Succeeded, listed.Succeeded) || !subset(now.Failed, listed.Failed) {
		return false
	}
	was.UncountedTerminatedPods = next.UncountedTerminatedPods
	return equality.Semantic.DeepEqual(was, next)
}

func subset(a, b []types.UID) bool {
	return len(a) == 0 || sets.New(b...).HasAll(a...)
}
