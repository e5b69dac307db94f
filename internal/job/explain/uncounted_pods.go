package explain

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

// uncountedPods are the terminated pods that are still to be counted.
type uncountedPods struct {
	pods []*corev1.Pod
	// manager is the controller that counts them.
	manager string
}

func (c uncountedPods) applies() bool { return len(c.pods) > 0 }

func (c uncountedPods) waits() []stintv1.JobWait {
	first := time.Time{}
	for _, p := range c.pods {
		first = earlier(first, job.EndedAt(p))
	}
	n := len(c.pods)
	return []stintv1.JobWait{{For: stintv1.WaitForCounting, What: batchv1.JobTrackingFinalizer, Count: int32(n), Since: timeOrNil(first),
		Message: fmt.Sprintf("%s to count %s", c.manager, counted(n, "ended pod"))}}
}
