package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Decision is what shall be done, in the order of its fields. A step that fails does not stop the steps up to Status;
// without Status stored nothing after it may happen.
type Decision struct {
	// Adopt are orphans to put under the Job's control. All else then waits for the next decision.
	Adopt []*corev1.Pod
	// LetGo are pods that no longer match the selector: the Job's reference and the finalizer go.
	LetGo []*corev1.Pod
	// Create are new pods, lowest index first.
	Create []*corev1.Pod
	// Discard are pods to end uncounted (suspension, scale-down): first the finalizer goes, then the pod.
	Discard []*corev1.Pod
	// Delete are pods to end because the Job failed. They count as failed, and so are among Release too.
	Delete []*corev1.Pod

	// Fail are pods to be made Failed, as they cannot start.
	Fail []Stuck
	// Remove are counted failed pods beyond the limit, to delete.
	Remove []*corev1.Pod

	// Release are pods that the next status accounts for (the persisted one, where nothing is to be written): their
	// tracking finalizer may go.
	Release []*corev1.Pod
	// Events tell what the next status says; record them once it is stored.
	Events []Event
	// Counts are increments for metrics, under the same condition.
	Counts Counts

	// Action is what became of the pods, as the metrics call it.
	Action Action

	// Again asks for another decision as soon as this one is applied.
	Again bool
	// More tells that something is left to do, for one because of a bound: another decision is wanted once other Jobs
	// have had their turn.
	More bool
	// LookAgainAfter, where positive, is when time alone changes the decision.
	LookAgainAfter time.Duration

	persisted, next *batchv1.JobStatus
	// full tells that the status has no room for more ended pods.
	full bool
}

// Stuck is a pod that has not started in time.
type Stuck struct {
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
	// NotRemoved are pods of Discard and Delete that were not told to end.
	NotRemoved []*corev1.Pod
	// Gone are pods of Discard and Delete that are no more. Somebody took their finalizer, and so decided what they count.
	Gone []*corev1.Pod
}

// Patience tells how long a status may stay unwritten. A later decision repeats it.
type Patience int

const (
	// Urgent is a status that others wait for.
	Urgent Patience = iota
	// Holding is a status that only lists ended pods. Until it is stored, none of Release may happen.
	Holding
	// Harmless is a status that could be worked out again from the pods alone. Nothing depends on it.
	Harmless
)

// Status returns the status to store after the pods were created and removed, or nil if it is stored already.
func (d Decision) Status(o Outcome) (next *batchv1.JobStatus, patience Patience) {
	next = d.next.DeepCopy()
	if len(d.Adopt) > 0 {
		return nil, Urgent
	}
	next.Active -= int32(o.NotCreated)
	for _, p := range o.NotRemoved {
		next.Active++
		*next.Terminating--
		if ready(p) {
			*next.Ready++
		}
	}
	*next.Terminating -= int32(len(o.Gone))
	next.UncountedTerminatedPods.Failed = slices.DeleteFunc(next.UncountedTerminatedPods.Failed, d.spared(o))
	if equality.Semantic.DeepEqual(d.persisted, next) {
		return nil, Urgent
	}
	return next, d.patience(next)
}

func (d Decision) patience(next *batchv1.JobStatus) Patience {
	switch {
	case nothingToLose(d.persisted, next):
		return Harmless
	case nothingToLose(d.persisted, withoutEnded(d.persisted, next)) && !d.full:
		return Holding
	default:
		return Urgent
	}
}

// withoutEnded returns next less what it says about ended pods.
func withoutEnded(old, next *batchv1.JobStatus) *batchv1.JobStatus {
	s := next.DeepCopy()
	s.UncountedTerminatedPods, s.CompletedIndexes, s.FailedIndexes = old.UncountedTerminatedPods, old.CompletedIndexes, old.FailedIndexes
	return s
}

// Releasable returns the pods of Release without those that run on because they could not be told to end, and those that
// are gone.
func (d Decision) Releasable(o Outcome) []*corev1.Pod {
	spared := d.spared(o)
	return slices.DeleteFunc(slices.Clone(d.Release), func(p *corev1.Pod) bool { return spared(p.UID) })
}

// spared tells which pods the next status must not list after all. What is listed already has to stay.
func (d Decision) spared(o Outcome) func(types.UID) bool {
	listed := orEmpty(d.persisted.UncountedTerminatedPods).Failed
	spared := sets.New[types.UID]()
	for _, p := range slices.Concat(o.NotRemoved, o.Gone) {
		if !slices.Contains(listed, p.UID) {
			spared.Insert(p.UID)
		}
	}
	return spared.Has
}

// Rest tells that nothing is to be done until something changes.
func (d Decision) Rest() bool {
	next, _ := d.Status(Outcome{})
	pods := len(d.Adopt) + len(d.LetGo) + len(d.Create) + len(d.Discard) + len(d.Delete) + len(d.Fail) + len(d.Remove) + len(d.Release)
	return next == nil && pods == 0 && !d.Again && !d.More
}

// nothingToLose tells that next could be worked out again from the pods alone if it were not stored: it differs from
// old in numbers of living pods, in the start, and in pods that moved from the list to the counters.
func nothingToLose(old, next *batchv1.JobStatus) bool {
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
