package scheduledjob

import (
	"k8s.io/apimachinery/pkg/api/equality"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Find returns the run of that tag, as far as it is known still; nil if it is not.
func Find(status *stintv1.ScheduledJobStatus, tag string) *stintv1.Execution {
	for _, list := range [][]stintv1.Execution{status.PendingExecutions, status.RunningExecutions, status.CompletedExecutions} {
		for i := range list {
			if list[i].Tag == tag {
				return &list[i]
			}
		}
	}
	return nil
}

// SameRun tells whether a run that is known is one with these overrides, as far as they are remembered.
func SameRun(known *stintv1.Execution, o *stintv1.Overrides) bool {
	if equality.Semantic.DeepEqual(known.Overrides, o) {
		return true
	}
	waits := known.Status == "" || known.Status == stintv1.ExecutionPending
	return !waits && equality.Semantic.DeepEqual(known.Overrides, KeptOverrides(o))
}
