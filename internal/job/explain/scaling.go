package explain

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// scaleDown is the deletion of pods that are more than there should be.
type scaleDown struct{ pods []*corev1.Pod }

func (r scaleDown) applies() bool { return len(r.pods) > 0 }

func (r scaleDown) summary() string {
	n := len(r.pods)
	return fmt.Sprintf("has %s more than wanted: %s deleted", counted(n, "pod"), verb(n, "it is", "they are"))
}

// zeroParallelism is a parallelism of 0.
type zeroParallelism struct {
	job *batchv1.Job
	// idle is set where no pod is active or about to be created.
	idle bool
}

func (p zeroParallelism) applies() bool { return p.idle && ptr.Deref(p.job.Spec.Parallelism, 1) == 0 }

func (p zeroParallelism) since() *metav1.Time {
	_, since := lastWriter(p.job, "f:spec", "f:parallelism")
	return since
}

func (p zeroParallelism) summary() string { return "is paused: its parallelism is 0" }

func (p zeroParallelism) waits() []stintv1.JobWait {
	return []stintv1.JobWait{{For: stintv1.WaitForParallelism, Since: p.since(), Message: "a spec.parallelism above 0"}}
}
