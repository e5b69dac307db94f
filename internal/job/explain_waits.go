package job

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// findWaits find all that a Job can wait for, in the order in which it is told.
func findWaits() []func(*explainer) []stintv1.JobWait {
	return []func(*explainer) []stintv1.JobWait{
		controllerWait, finalizerWaits, dependentsWait, holdWait, resumeWait, jobWaits, parallelismWait,
		refusalWait, delayWait, podWaits, workWait, terminatingWait, countingWait,
	}
}

// isOver tells that nothing is expected of the Job's pods.
func (e *explainer) isOver() bool { return Finished(e.job) || e.isDeleted() }

func controllerWait(e *explainer) []stintv1.JobWait {
	w := stintv1.JobWait{For: stintv1.WaitForController, What: ManagerOf(e.job)}
	switch s := e.state().name; {
	case Finished(e.job) && !e.isDeleted():
		return nil
	case e.about.NoController:
		w.Message = "no server runs on this data directory"
	case s == stintv1.JobNotSeen:
		w.Message, w.Since = "a Job controller to look at it: does one run?", e.createdAt()
	case s == stintv1.JobUnknownPlan:
		w.Message = ManagerOf(e.job) + " to act"
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
	for _, name := range e.job.Finalizers {
		w := stintv1.JobWait{For: stintv1.WaitForFinalizer, What: name, Since: e.job.DeletionTimestamp}
		switch name {
		case metav1.FinalizerDeleteDependents:
			w.Message = "the garbage collector takes it when the pods and other objects of the Job are gone"
		case metav1.FinalizerOrphanDependents:
			w.Message = "the garbage collector takes it when the pods do not belong to the Job any more"
		default:
			w.Message = "whoever put it there has to take it" + writtenBy(e.job, name)
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
	if !e.isDeleted() || !slices.Contains(e.job.Finalizers, metav1.FinalizerDeleteDependents) {
		return nil
	}
	left := slices.Clone(e.about.Dependents)
	for _, p := range e.owned {
		left = append(left, "Pod/"+p.Name+heldBy(p))
	}
	if len(left) == 0 {
		return nil
	}
	return []stintv1.JobWait{{For: stintv1.WaitForDependents, Count: int32(len(left)), Message: some(left)}}
}

// heldBy names what keeps a pod that has ended.
func heldBy(p *corev1.Pod) string {
	if !Ended(p) || len(p.Finalizers) == 0 {
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
	if e.isOver() || !e.isSuspended() || e.isHeld() || e.end != nil {
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
	for _, d := range e.awaited {
		w := stintv1.JobWait{For: stintv1.WaitForJob, What: d.String()}
		if c := condition(e.job.Status.Conditions, d.condition()); c != nil {
			w.Message, w.Since = c.Message, moment(c.LastTransitionTime.Time)
		}
		if w.Message == "" || slices.ContainsFunc(e.Dependencies, func(dep Dependency) bool { return dep.Name == d.Job }) {
			w.Message = e.standing(d).message
		}
		w.Message = strings.TrimPrefix(w.Message, "Job "+d.Job+" ")
		list = append(list, w)
	}
	return list
}

func parallelismWait(e *explainer) []stintv1.JobWait {
	if e.isOver() || e.end != nil || e.isSuspended() || !e.isPaused() {
		return nil
	}
	return []stintv1.JobWait{{For: stintv1.WaitForParallelism, Since: e.pausedSince(), Message: "a spec.parallelism above 0"}}
}

func refusalWait(e *explainer) []stintv1.JobWait {
	since, message := e.refusal()
	if since == nil || e.isOver() || e.end != nil {
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
	if e.foreign || e.plan.after <= 0 || e.NoPodsBefore.After(e.Now) {
		return nil
	}
	w := stintv1.JobWait{For: stintv1.WaitForDelay, Since: e.delayedSince(), Until: moment(e.Now.Add(e.plan.after))}
	if perIndex(e.job) {
		indexes := e.waitingIndexes()
		w.Count = int32(len(indexes))
		w.Message = fmt.Sprintf("%s %s: %s", counted(len(indexes), "index"), verb(len(indexes), "has failed and waits", "have failed and wait"),
			abridged(Indexes(nil).With(indexes...)))
		return []stintv1.JobWait{w}
	}
	n, _ := failuresInARow(e.view)
	w.Message = fmt.Sprintf("%s after %s in a row", spell(e.delayAfter(n)), counted(n, "failure"))
	return []stintv1.JobWait{w}
}

// waitingIndexes are those whose next pod must wait for a delay.
func (e *explainer) waitingIndexes() []int {
	var list []int
	for _, i := range slices.Sorted(maps.Keys(e.retained)) {
		if indexDelay(e.view, e.retained[i]) > 0 {
			list = append(list, i)
		}
	}
	return list
}

// overdue is how long after its time a pod that has not ended is told to be late.
const overdue = 5 * time.Second

func terminatingWait(e *explainer) []stintv1.JobWait {
	if len(e.terminating) == 0 || e.isDeleted() {
		return nil
	}
	last := time.Time{}
	for _, p := range e.terminating {
		if p.DeletionTimestamp != nil {
			last = later(last, p.DeletionTimestamp.Time)
		}
	}
	n := len(e.terminating)
	w := stintv1.JobWait{For: stintv1.WaitForTerminatingPods, Count: int32(n), Since: e.terminatingSince(), Until: moment(last),
		Message: fmt.Sprintf("%s to end: %s", counted(n, "pod"), some(podNames(e.terminating)))}
	if !last.IsZero() && e.Now.Sub(last) > overdue {
		w.Until = nil
		w.Message += "; " + late(e.terminating[0])
	}
	return []stintv1.JobWait{w}
}

func late(p *corev1.Pod) string {
	if p.Spec.NodeName == "" {
		return "their time is over"
	}
	return "their time is over: is node " + p.Spec.NodeName + " there?"
}

// uncountedPods have ended, and only being counted keeps their finalizer.
func (e *explainer) uncountedPods() []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(e.owned), func(p *corev1.Pod) bool {
		return !Ended(p) || !e.tracked(p) || e.retained[IndexOf(p)] == p
	})
}

func countingWait(e *explainer) []stintv1.JobWait {
	pods := e.uncountedPods()
	if len(pods) == 0 || e.isDeleted() {
		return nil
	}
	first := time.Time{}
	for _, p := range pods {
		first = earlier(first, EndedAt(p))
	}
	n := len(pods)
	return []stintv1.JobWait{{For: stintv1.WaitForCounting, What: batchv1.JobTrackingFinalizer, Count: int32(n), Since: moment(first),
		Message: fmt.Sprintf("%s to count %s", ManagerOf(e.job), counted(n, "ended pod"))}}
}

// workWait tells of pods that do their work.
func workWait(e *explainer) []stintv1.JobWait {
	if e.isOver() || e.isSuspended() || e.end != nil {
		return nil
	}
	running := slices.DeleteFunc(e.runningPods(), func(p *corev1.Pod) bool { return slices.Contains(e.plan.discard, p) })
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
	if e.job.Spec.Completions == nil {
		return 0
	}
	return e.completions() - int(e.succeeded) - e.failedIndexes.Count() - len(e.active)
}
