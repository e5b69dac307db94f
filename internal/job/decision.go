package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/podstatus"
)

// Decision is what is to be done about a Job, in this order: Adopt, Release, Create, DeleteWithoutCounting, Delete, FailPending,
// store what Status returns, Events, Counts, RemoveFinalizer, DeleteFailed.
//
// Create may be carried out beside what follows it; Status then gets an Outcome without it.
//
// A pod that cannot be created, deleted or failed stops no other step; Status takes the Outcome into account. If the
// status cannot be stored, none of the steps after it may happen. For a status that may wait, see WriteUrgency.
type Decision struct {
	// Adopt are orphan pods to adopt. Everything but Release then waits for the next decision.
	Adopt []*corev1.Pod
	// Release are pods that no longer match the selector: remove the Job's owner reference and the finalizer.
	Release []*corev1.Pod
	// Create are new pods, lowest index first.
	Create []*corev1.Pod
	// DeleteWithoutCounting are pods to delete without counting them (suspension, scale-down, a Job that succeeded): first
	// remove the finalizer, then delete the pod.
	DeleteWithoutCounting []*corev1.Pod
	// Delete are pods to delete because the Job fails. They count as failed, and so are among RemoveFinalizer too.
	Delete []*corev1.Pod

	// FailPending are pods to set to the phase Failed, as they have not started within the pending timeout.
	FailPending []PendingTooLong
	// DeleteFailed are failed pods beyond the limit, which are counted and to be deleted.
	DeleteFailed []*corev1.Pod

	// RemoveFinalizer are pods that lose the tracking finalizer, as the next status accounts for them (or the persisted
	// one, if there is nothing to store). FinalizersToRemove leaves out those that Outcome excludes.
	RemoveFinalizer []*corev1.Pod
	// DeleteCounted are pods of RemoveFinalizer that are not to stay: the write that removes the finalizer deletes them.
	DeleteCounted []*corev1.Pod
	// Events are about changes in the next status; record them once it is stored.
	Events []Event
	// Counts are increments for metrics, under the same condition.
	Counts Counts

	// Action is what is done about the pods, as a label for metrics.
	Action Action

	// Requeue asks for another decision as soon as this one is applied.
	Requeue bool
	// RequeueFair asks for another decision once other Jobs have been synced: something is left to do, for example because
	// of MaxPodCreateDelete.
	RequeueFair bool
	// RequeueAfter, if positive, is how long until time alone changes the decision.
	RequeueAfter time.Duration

	persisted, next *batchv1.JobStatus
	// uncountedListFull is set if uncountedTerminatedPods has no room for all pods that have terminated.
	uncountedListFull bool
}

// PendingTooLong is a pod that has not started within the pending timeout.
type PendingTooLong struct {
	Pod *corev1.Pod
	// Reason and Message say why it has not started.
	Reason, Message string

	limit startLimit
}

// Event is an API event to record about the Job.
type Event struct {
	// Type is Normal or Warning.
	Type, Reason, Message string
}

// Action names what a decision does about living pods. The names are upstream's.
type Action string

// The actions.
const (
	// Reconciling is adopting pods, ending the Job, or waiting for other Jobs.
	Reconciling Action = "reconciling"
	// Tracking is only counting pods: there are as many as wanted.
	Tracking Action = "tracking"
	// PodsCreated includes waiting for the delay after a failure.
	PodsCreated Action = "pods_created"
	// PodsDeleted includes every decision about a suspended Job.
	PodsDeleted Action = "pods_deleted"
)

// Outcome is what came of the creations and deletions of pods in a decision.
type Outcome struct {
	// NotCreated is the number of pods of Create that could not be created.
	NotCreated int
	// NotDeleted are pods of DeleteWithoutCounting and Delete that could not be deleted.
	NotDeleted []*corev1.Pod
	// AlreadyDeleted are pods of DeleteWithoutCounting and Delete that were gone already. Another client removed their
	// finalizer, so they do not count unless they are listed.
	AlreadyDeleted []*corev1.Pod
}

// WriteUrgency is how long a status may stay unwritten. The next decision includes what was not written.
type WriteUrgency int

const (
	// Immediate is a status that users or other controllers wait for.
	Immediate WriteUrgency = iota
	// Batched is a status that only lists terminated pods. Until it is stored, no pod of RemoveFinalizer may lose its
	// finalizer.
	Batched
	// Deferrable is a status that can be recomputed from the pods alone. RemoveFinalizer does not wait for it.
	Deferrable
)

// Status returns the status to store after pods were created and deleted with the outcome o, or nil if it is stored
// already.
func (d Decision) Status(o Outcome) (next *batchv1.JobStatus, urgency WriteUrgency) {
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

// withoutTerminated returns next with what it says about terminated pods taken from old.
func withoutTerminated(old, next *batchv1.JobStatus) *batchv1.JobStatus {
	s := next.DeepCopy()
	s.UncountedTerminatedPods, s.CompletedIndexes, s.FailedIndexes = old.UncountedTerminatedPods, old.CompletedIndexes, old.FailedIndexes
	return s
}

// FinalizersToRemove returns the pods of RemoveFinalizer without those that still run because they could not be deleted,
// and those that are gone.
func (d Decision) FinalizersToRemove(o Outcome) []*corev1.Pod {
	spared := d.notToList(o)
	return slices.DeleteFunc(slices.Clone(d.RemoveFinalizer), func(p *corev1.Pod) bool { return spared(p.UID) })
}

// notToList returns a function that reports, by UID, which pods the next status must not list after all. Pods that are
// listed already stay listed.
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

// IsNoop reports whether nothing is to be done until something changes or RequeueAfter is over.
func (d Decision) IsNoop() bool {
	next, _ := d.Status(Outcome{})
	pods := len(d.Adopt) + len(d.Release) + len(d.Create) + len(d.DeleteWithoutCounting) + len(d.Delete) + len(d.FailPending) + len(d.DeleteFailed) + len(d.RemoveFinalizer)
	return next == nil && pods == 0 && !d.Requeue && !d.RequeueFair
}

// recomputable reports whether next could be recomputed from the pods alone if it were not stored: it differs from old
// only in the numbers of living pods, in a first start, and in pods that moved from the list to the counters.
func recomputable(old, next *batchv1.JobStatus) bool {
	was := old.DeepCopy()
	was.Active, was.Ready, was.Terminating = next.Active, next.Ready, next.Terminating
	was.Succeeded, was.Failed = next.Succeeded, next.Failed
	if was.StartTime == nil {
		was.StartTime = next.StartTime
	}
	if was.FailedIndexes == nil && ptr.Deref(next.FailedIndexes, "") == "" {
		was.FailedIndexes = next.FailedIndexes
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
