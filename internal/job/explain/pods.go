package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// podGroup is active pods that do not run, all for the same reason.
type podGroup struct {
	reason string
	pods   []*corev1.Pod
	// message is what the first pod says.
	message string
	since   time.Time
	// unplaced pods have no node.
	unplaced bool
	// plain pods are merely being started, as far as they tell.
	plain bool
}

// runs tells that nothing of p waits.
func runs(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodRunning && crashing(p) == nil && !slices.ContainsFunc(p.Status.ContainerStatuses,
		func(s corev1.ContainerStatus) bool { return s.State.Waiting != nil })
}

func (e *explainer) runningPods() []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(e.Active), func(p *corev1.Pod) bool { return !runs(p) })
}

// crashing returns the container of p that waits to be started again.
func crashing(p *corev1.Pod) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range list {
			if list[i].State.Waiting != nil && job.HasStarted(list[i]) {
				return &list[i]
			}
		}
	}
	return nil
}

// waitingPods groups the active pods that do not run, the largest group first; those that are merely being started last.
func (e *explainer) waitingPods() []*podGroup {
	var groups []*podGroup
	for _, p := range e.Active {
		if runs(p) {
			continue
		}
		reason, message := hindrance(p)
		i := slices.IndexFunc(groups, func(g *podGroup) bool { return g.reason == reason })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &podGroup{reason: reason, message: message, unplaced: p.Spec.NodeName == "",
				plain: isPlain(reason, message)})
		}
		groups[i].pods = append(groups[i].pods, p)
		groups[i].since = earlier(groups[i].since, waitingSince(p))
	}
	slices.SortStableFunc(groups, func(a, b *podGroup) int {
		return cmp.Or(plainLast(a, b), cmp.Compare(len(b.pods), len(a.pods)), cmp.Compare(a.reason, b.reason))
	})
	return groups
}

func hindrance(p *corev1.Pod) (reason, message string) {
	c := crashing(p)
	if c == nil {
		return job.Obstacle(p)
	}
	message = fmt.Sprintf("container %s was restarted %d times", c.Name, c.RestartCount)
	if c.RestartCount == 1 {
		message = fmt.Sprintf("container %s was restarted once", c.Name)
	}
	if end := c.LastTerminationState.Terminated; end != nil {
		message += ", " + lastEnd(end)
	}
	return cmp.Or(c.State.Waiting.Reason, "Waiting"), message
}

// lastEnd describes how a container ended, with the reason where the exit code alone says too little.
func lastEnd(end *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("last exit code %d", end.ExitCode)
	switch end.Reason {
	case "", "Completed", "Error":
		return text
	case "StartError", "ContainerCannotRun":
		return fmt.Sprintf("%s (%s): %s", text, end.Reason, end.Message)
	}
	return fmt.Sprintf("%s (%s)", text, end.Reason)
}

// isPlain is about what every pod goes through, as long as nothing is said to be wrong with it.
func isPlain(reason, message string) bool {
	switch reason {
	case "ContainerCreating", "PodInitializing", "Pending", "":
		return !strings.Contains(message, ": ")
	}
	return false
}

// waitingSince is when p was made, or when what it waits for was told first.
func waitingSince(p *corev1.Pod) time.Time {
	if c := podScheduled(p); c != nil && !c.LastTransitionTime.IsZero() {
		return c.LastTransitionTime.Time
	}
	return p.CreationTimestamp.Time
}

// hindered are the groups that tell what they wait for.
func (e *explainer) hindered() []*podGroup {
	return slices.DeleteFunc(e.waitingPods(), func(g *podGroup) bool { return g.plain })
}

func (e *explainer) podsWaitingSince() *metav1.Time {
	first := time.Time{}
	for _, g := range e.hindered() {
		first = earlier(first, g.since)
	}
	return moment(first)
}

// podWaits tells of each reason how many pods wait for it, and what one of them says.
func podWaits(e *explainer) []stintv1.JobWait {
	var list []stintv1.JobWait
	for _, g := range e.waitingPods() {
		w := stintv1.JobWait{For: stintv1.WaitForContainers, What: g.reason, Count: int32(len(g.pods)), Since: moment(g.since),
			Message: counted(len(g.pods), "pod")}
		if g.unplaced {
			w.For = stintv1.WaitForCapacity
		}
		if text := e.detail(g); text != "" {
			w.Message += ": " + text
		}
		w.Message += " (" + forExample(g) + ")"
		w.Until = e.timeoutOf(g)
		list = append(list, w)
	}
	return list
}

func forExample(g *podGroup) string {
	if len(g.pods) == 1 {
		return g.pods[0].Name
	}
	return "one is " + g.pods[0].Name
}

// detail is what a pod of the group says, else what the last warning about it says: of volumes only events tell.
func (e *explainer) detail(g *podGroup) string {
	if g.plain {
		for _, p := range g.pods {
			if event := e.lastEvent(p.UID, corev1.EventTypeWarning, ""); event != nil {
				return event.Reason + ": " + event.Message
			}
		}
	}
	return g.message
}

// timeoutOf is when the first pod of the group is failed for not starting in time.
func (e *explainer) timeoutOf(g *podGroup) *metav1.Time {
	first := time.Time{}
	for _, p := range g.pods {
		first = earlier(first, e.StartBy[p.UID])
	}
	return moment(first)
}

func podScheduled(p *corev1.Pod) *corev1.PodCondition {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	if i < 0 {
		return nil
	}
	return &p.Status.Conditions[i]
}

func plainLast(a, b *podGroup) int {
	switch {
	case a.plain == b.plain:
		return 0
	case a.plain:
		return 1
	}
	return -1
}
