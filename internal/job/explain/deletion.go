package explain

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/podstatus"
)

// deletion is the deletion of the Job, while finalizers delay it.
type deletion struct {
	job  *batchv1.Job
	pods []*corev1.Pod
	// dependents are the other objects that belong to the Job.
	dependents []string
}

func (d deletion) applies() bool       { return d.job.DeletionTimestamp != nil }
func (d deletion) since() *metav1.Time { return d.job.DeletionTimestamp }

func (d deletion) summary() string {
	switch n := len(d.job.Finalizers); n {
	case 0:
		return "is being deleted"
	default:
		return fmt.Sprintf("is being deleted: it still has %s", counted(n, "finalizer"))
	}
}

// waits says which controller must remove each finalizer, and what a foreground deletion waits for.
func (d deletion) waits() []stintv1.JobWait {
	var list []stintv1.JobWait
	for _, name := range d.job.Finalizers {
		list = append(list, stintv1.JobWait{For: stintv1.WaitForFinalizer, What: name, Since: d.since(), Message: d.remover(name)})
	}
	return append(list, d.dependentsWait()...)
}

func (d deletion) remover(finalizer string) string {
	switch finalizer {
	case metav1.FinalizerDeleteDependents:
		return "the garbage collector removes it when the pods and other objects of the Job are gone"
	case metav1.FinalizerOrphanDependents:
		return "the garbage collector removes it when the pods do not belong to the Job any more"
	}
	text := "the client or controller that added it must remove it"
	if by, _ := lastWriter(d.job, "f:metadata", "f:finalizers", `v:"`+finalizer+`"`); by != "" {
		text += " (added by " + by + ")"
	}
	return text
}

func (d deletion) dependentsWait() []stintv1.JobWait {
	if !slices.Contains(d.job.Finalizers, metav1.FinalizerDeleteDependents) {
		return nil
	}
	left := slices.Clone(d.dependents)
	for _, p := range d.pods {
		left = append(left, "Pod/"+p.Name+finalizersOf(p))
	}
	if len(left) == 0 {
		return nil
	}
	return []stintv1.JobWait{{For: stintv1.WaitForDependents, Count: int32(len(left)), Message: some(left)}}
}

// finalizersOf names the finalizers of a terminated pod, which delay its deletion.
func finalizersOf(p *corev1.Pod) string {
	if !podstatus.IsTerminated(p) || len(p.Finalizers) == 0 {
		return ""
	}
	return " (finalizer " + strings.Join(p.Finalizers, ", ") + ")"
}
