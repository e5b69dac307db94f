package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// findWaits find all that a Job can wait for, in the order in which it is told.
func findWaits() []func(*explainer) []stintv1.JobWait {
	return []func(*explainer) []stintv1.JobWait{
		controllerWait, finalizerWaits, dependentsWait, holdWait, resumeWait, jobWaits, parallelismWait,
		refusalWait, delayWait, podWaits, workWait, terminatingWait, countingWait,
	}
}

// isOver tells that nothing is expected of the Job's pods.
func (e *explainer) isOver() bool { return job.Finished(e.Job) || e.isDeleted() }

func controllerWait(e *explainer) []stintv1.JobWait {
	w := stintv1.JobWait{For: stintv1.WaitForController, What: job.ManagerOf(e.Job)}
	switch s := e.state().name; {
	case job.Finished(e.Job) && !e.isDeleted():
		return nil
	case e.about.NoController:
		w.Message = "no server runs on this data directory"
	case s == stintv1.JobNotSeen:
		w.Message, w.Since = "a Job controller to look at it: does one run?", e.createdAt()
	case s == stintv1.JobUnknownPlan:
		w.Message = job.ManagerOf(e.Job) + " to act"
	default:
		return nil
	}
	return []stintv1.JobWait{w}
}

// finalizerWaits tell who must take each finalizer of a Job that is being deleted.
func finalizerWaits(e *explainer) []stintv1.JobWait {
	if !e.isDeleted() {
		return nil
	}
	var list []stintv1.JobWait
	for _, name := range e.Job.Finalizers {
		w := stintv1.JobWait{For: stintv1.WaitForFinalizer, What: name, Since: e.Job.DeletionTimestamp}
		switch name {
		case metav1.FinalizerDeleteDependents:
			w.Message = "the garbage collector takes it when the pods and other objects of the Job are gone"
		case metav1.FinalizerOrphanDependents:
			w.Message = "the garbage collector takes it when the pods do not belong to the Job any more"
		default:
			w.Message = "whoever put it there has to take it" + writtenBy(e.Job, name)
		}
		list = append(list, w)
	}
	return list
}

func writtenBy(object metav1.Object, finalizer string) string {
	by, _ := lastWriter(object, "f:metadata", "f:finalizers", `v:"`+finalizer+`"`)
	if by == "" {
		return ""
	}
	return " (" + by + " did)"
}

// dependentsWait tells what a foreground deletion waits for.
func dependentsWait(e *explainer) []stintv1.JobWait {
	if !e.isDeleted() || !slices.Contains(e.Job.Finalizers, metav1.FinalizerDeleteDependents) {
		return nil
	}
	left := slices.Clone(e.about.Dependents)
	for _, p := range e.Owned {
		left = append(left, "Pod/"+p.Name+heldBy(p))
	}
	if len(left) == 0 {
		return nil
	}
	return []stintv1.JobWait{{For: stintv1.WaitForDependents, Count: int32(len(left)), Message: some(left)}}
}

// heldBy names what keeps a pod that has ended.
func heldBy(p *corev1.Pod) string {
	if !job.Ended(p) || len(p.Finalizers) == 0 {
		return ""
	}
	return " (finalizer " + strings.Join(p.Finalizers, ", ") + ")"
}

func holdWait(e *explainer) []stintv1.JobWait {
	if e.isOver() || !e.isHeld() {
		return nil
	}
	return []stintv1.JobWait{{For: stintv1.WaitForConcurrency, Since: e.heldSince(),
		Message: "runs that came before it to end" + because(e.about.Holders)}}
}

// because lists what there is to list.
func because(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + some(names)
}

func resumeWait(e *explainer) []stintv1.JobWait {
	if e.isOver() || !e.isSuspended() || e.isHeld() || e.Verdict != nil {
		return nil
	}
	return []stintv1.JobWait{{For: stintv1.WaitForResume, Since: e.suspendedSince(),
		Message: "spec.suspend is true"}}
}

// jobWaits tells of dependencies as the conditions do, or as they will.
func jobWaits(e *explainer) []stintv1.JobWait {
	if e.isOver() {
		return nil
	}
	var list []stintv1.JobWait
	for _, d := range e.Awaited {
		w := stintv1.JobWait{For: stintv1.WaitForJob, What: d.String(), Since: moment(d.Since)}
		w.Message = strings.TrimPrefix(d.Message, "Job "+d.Job+" ")
		list = append(list, w)
	}
	return list
}

func parallelismWait(e *explainer) []stintv1.JobWait {
	if e.isOver() || e.Verdict != nil || e.isSuspended() || !e.isPaused() {
		return nil
	}
	return []stintv1.JobWait{{For: stintv1.WaitForParallelism, Since: e.pausedSince(), Message: "a spec.parallelism above 0"}}
}

func refusalWait(e *explainer) []stintv1.JobWait {
	since, message := e.refusal()
	if since == nil || e.isOver() || e.Verdict != nil {
		return nil
	}
	w := stintv1.JobWait{For: stintv1.WaitForCreation, Message: strings.TrimPrefix(message, "Error creating: "), Since: since}
	if e.NoPodsBefore.After(e.Now) {
		w.Until = moment(e.NoPodsBefore)
	}
	return []stintv1.JobWait{w}
}

// delayWait tells of the delay after failures, of the Job or of indexes.
func delayWait(e *explainer) []stintv1.JobWait {
	if e.Foreign || e.NextPod.IsZero() || e.NoPodsBefore.After(e.Now) {
		return nil
	}
	w := stintv1.JobWait{For: stintv1.WaitForDelay, Since: e.delayedSince(), Until: moment(e.NextPod)}
	if perIndex(e.Job) {
		n := e.Backoff.Indexes.Count()
		w.Count = int32(n)
		w.Message = fmt.Sprintf("%s %s: %s", counted(n, "index"), verb(n, "has failed and waits", "have failed and wait"),
			abridged(e.Backoff.Indexes))
		return []stintv1.JobWait{w}
	}
	w.Message = fmt.Sprintf("%s after %s in a row", spell(e.Backoff.Delay), counted(e.Backoff.Failures, "failure"))
	return []stintv1.JobWait{w}
}

// overdue is how long after its time a pod that has not ended is told to be late.
const overdue = 5 * time.Second

func terminatingWait(e *explainer) []stintv1.JobWait {
	if len(e.Terminating) == 0 || e.isDeleted() {
		return nil
	}
	last := time.Time{}
	for _, p := range e.Terminating {
		if p.DeletionTimestamp != nil {
			last = later(last, p.DeletionTimestamp.Time)
		}
	}
	n := len(e.Terminating)
	w := stintv1.JobWait{For: stintv1.WaitForTerminatingPods, Count: int32(n), Since: e.terminatingSince(), Until: moment(last),
		Message: fmt.Sprintf("%s to end: %s", counted(n, "pod"), some(podNames(e.Terminating)))}
	if !last.IsZero() && e.Now.Sub(last) > overdue {
		w.Until = nil
		w.Message += "; " + late(e.Terminating[0])
	}
	return []stintv1.JobWait{w}
}

func late(p *corev1.Pod) string {
	if p.Spec.NodeName == "" {
		return "their time is over"
	}
	return "their time is over: is node " + p.Spec.NodeName + " there?"
}

func countingWait(e *explainer) []stintv1.JobWait {
	pods := e.Uncounted
	if len(pods) == 0 || e.isDeleted() {
		return nil
	}
	first := time.Time{}
	for _, p := range pods {
		first = earlier(first, job.EndedAt(p))
	}
	n := len(pods)
	return []stintv1.JobWait{{For: stintv1.WaitForCounting, What: batchv1.JobTrackingFinalizer, Count: int32(n), Since: moment(first),
		Message: fmt.Sprintf("%s to count %s", job.ManagerOf(e.Job), counted(n, "ended pod"))}}
}

// workWait tells of pods that do their work.
func workWait(e *explainer) []stintv1.JobWait {
	if e.isOver() || e.isSuspended() || e.Verdict != nil {
		return nil
	}
	running := slices.DeleteFunc(e.runningPods(), func(p *corev1.Pod) bool { return slices.Contains(e.Discard, p) })
	if len(running) == 0 {
		return nil
	}
	n := len(running)
	w := stintv1.JobWait{For: stintv1.WaitForPods, Count: int32(n), Message: fmt.Sprintf("%s to finish: %s", counted(n, "pod"), some(podNames(running)))}
	if left := e.left(); left > 0 {
		w.Message += fmt.Sprintf("; %d more to be started after them", left)
	}
	return []stintv1.JobWait{w}
}

// left is how many successes are missing beside those that active pods may bring.
func (e *explainer) left() int {
	if e.Job.Spec.Completions == nil {
		return 0
	}
	return int(ptr.Deref(e.Job.Spec.Completions, 0)) - int(e.Succeeded) - e.FailedIndexes.Count() - len(e.Active)
}
