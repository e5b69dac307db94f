package scheduledjob

import (
	"k8s.io/apimachinery/pkg/api/equality"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Find returns the run with that tag; nil if the status does not list it, or not any more.
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

// SameRun reports whether a listed run has these overrides. Of a run that is not pending, the status may have dropped them.
func SameRun(known *stintv1.Execution, o *stintv1.Overrides) bool {
	if equality.Semantic.DeepEqual(known.Overrides, o) {
		return true
	}
	waits := known.Status == "" || known.Status == stintv1.ExecutionPending
	return !waits && equality.Semantic.DeepEqual(known.Overrides, KeptOverrides(o))
}
