package explain

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// deletion is what becomes of a Job that is being deleted.
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
		return fmt.Sprintf("is being deleted: waits for %s", counted(n, "finalizer"))
	}
}

// waits tell who must take each finalizer, and what a foreground deletion waits for.
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
		return "the garbage collector removes it when the Job's dependents are gone"
	case metav1.FinalizerOrphanDependents:
		return "the garbage collector removes it when the owner references of the Job's dependents are removed"
	}
	text := "the controller or user that set it must remove it"
	if by, _ := lastWriter(d.job, "f:metadata", "f:finalizers", `v:"`+finalizer+`"`); by != "" {
		text += " (set by " + by + ")"
	}
	return text
}

func (d deletion) dependentsWait() []stintv1.JobWait {
	if !slices.Contains(d.job.Finalizers, metav1.FinalizerDeleteDependents) {
		return nil
	}
	left := slices.Clone(d.dependents)
	for _, p := range d.pods {
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
