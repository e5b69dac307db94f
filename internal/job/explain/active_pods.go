package explain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// activePods is the work of the Job's active pods.
type activePods struct {
	*job.Assessment
	// running are the active pods of which no container waits.
	running []*corev1.Pod
	about   Circumstances
}

func newActivePods(a *job.Assessment, about Circumstances) activePods {
	return activePods{Assessment: a, about: about, running: slices.DeleteFunc(slices.Clone(a.Active), func(p *corev1.Pod) bool { return !runs(p) })}
}

// isIdle reports whether no pod is active or about to be created.
func (w activePods) isIdle() bool { return len(w.Active) == 0 && w.Create == 0 }

// isDraining reports whether the Job is a work queue of which one pod has succeeded and others are active.
func (w activePods) isDraining() bool {
	return w.Job.Spec.Completions == nil && w.Succeeded > 0 && len(w.Active) > 0
}

func (w activePods) isRunning() bool { return len(w.running) > 0 }

func (w activePods) since() *metav1.Time {
	switch {
	case w.Job.Status.StartTime != nil:
		return w.Job.Status.StartTime
	case len(w.Owned) > 0 && w.Start != nil:
		return w.Start
	}
	return createdAt(w.Job)
}

func (w activePods) summaryDraining() string {
	n := len(w.Active)
	return fmt.Sprintf("is done as soon as %s %s: one has succeeded, so there is no more work", counted(n, "active pod"),
		verb(n, "ends", "end"))
}

func (w activePods) summaryRunning() string {
	n := len(w.running)
	text := counted(n, "pod") + " " + verb(n, "runs", "run")
	if others := len(w.Active) - n; others > 0 {
		text += fmt.Sprintf(", %d %s", others, verb(others, "waits", "wait"))
	}
	return text
}

func (w activePods) summaryStarting() string {
	switch n := len(w.Active); {
	case n > 0:
		return counted(n, "pod") + " " + verb(n, "starts", "start")
	case w.Create > 0:
		return "is about to get " + counted(w.Create, "pod")
	}
	return "has no pods yet: the controller is about to act on it"
}

// left is how many successes are missing besides those that active pods may bring.
func (w activePods) left() int {
	if w.Job.Spec.Completions == nil {
		return 0
	}
	return int(*w.Job.Spec.Completions-w.Succeeded) - w.FailedIndexes.Count() - len(w.Active)
}

// waits returns the wait for pods that run and are not about to be deleted.
func (w activePods) waits() []stintv1.JobWait {
	staying := slices.DeleteFunc(slices.Clone(w.running), func(p *corev1.Pod) bool { return slices.Contains(w.DeleteWithoutCounting, p) })
	n := len(staying)
	if n == 0 {
		return nil
	}
	text := fmt.Sprintf("%s to finish: %s", counted(n, "pod"), some(podNames(staying)))
	if left := w.left(); left > 0 {
		text += fmt.Sprintf("; %d more to be started after them", left)
	}
	return []stintv1.JobWait{{For: stintv1.WaitForPods, Count: int32(n), Message: text + w.about.onFullDisk(staying)}}
}
