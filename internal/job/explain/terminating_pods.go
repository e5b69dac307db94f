package explain

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/podstatus"
)

// terminatingPods are pods that have been deleted and still run.
type terminatingPods struct {
	pods []*corev1.Pod
	now  time.Time
	// replaced is set if new pods are created only when these have terminated.
	replaced bool
}

func (t terminatingPods) applies() bool     { return len(t.pods) > 0 }
func (t terminatingPods) areReplaced() bool { return t.applies() && t.replaced }

func (t terminatingPods) since() *metav1.Time {
	first := time.Time{}
	for _, p := range t.pods {
		first = earlier(first, podstatus.DeletedAt(p))
	}
	return timeOrNil(first)
}

func (t terminatingPods) summary() string {
	n := len(t.pods)
	return fmt.Sprintf("replaces pods when they have ended: %s still %s to", counted(n, "pod"), verb(n, "has", "have"))
}

// overdue is how long after its grace period a pod that still runs is reported as late.
const overdue = 5 * time.Second

func (t terminatingPods) waits() []stintv1.JobWait {
	last := time.Time{}
	for _, p := range t.pods {
		if p.DeletionTimestamp != nil {
			last = later(last, p.DeletionTimestamp.Time)
		}
	}
	n := len(t.pods)
	w := stintv1.JobWait{For: stintv1.WaitForTerminatingPods, Count: int32(n), Since: t.since(), Until: timeOrNil(last),
		Message: fmt.Sprintf("%s to end: %s", counted(n, "pod"), some(podNames(t.pods)))}
	if !last.IsZero() && t.now.Sub(last) > overdue {
		w.Until = nil
		w.Message += "; " + overdueMessage(t.pods[0])
	}
	return []stintv1.JobWait{w}
}

func overdueMessage(p *corev1.Pod) string {
	if p.Spec.NodeName == "" {
		return "their grace period is over"
	}
	return "their grace period is over: is node " + p.Spec.NodeName + " running?"
}
