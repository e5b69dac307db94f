package scheduledjob

import (
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Defaults of unset fields. A value that validation refuses, but that was stored where no validation ran, means the nearest
// valid one.

func suspended(sj *stintv1.ScheduledJob) bool { return ptr.Deref(sj.Spec.Suspend, false) }

func concurrent(sj *stintv1.ScheduledJob) bool { return ptr.Deref(sj.Spec.AllowConcurrentRun, true) }

func skipsOutdated(sj *stintv1.ScheduledJob) bool {
	return sj.Spec.Schedule != nil && ptr.Deref(sj.Spec.Schedule.SkipOutdated, true)
}

func blocksOnFailure(sj *stintv1.ScheduledJob) bool {
	return sj.Spec.Schedule != nil && ptr.Deref(sj.Spec.Schedule.BlockOnFailure, false)
}

func maxRestart(sj *stintv1.ScheduledJob) int32 { return max(0, ptr.Deref(sj.Spec.MaxRestart, 1)) }

func podCount(sj *stintv1.ScheduledJob) int32 { return max(1, ptr.Deref(sj.Spec.PodCount, 1)) }

func successfulJobsLimit(sj *stintv1.ScheduledJob) int {
	return int(max(0, ptr.Deref(sj.Spec.SuccessfulJobsHistoryLimit, 3)))
}

func failedJobsLimit(sj *stintv1.ScheduledJob) int {
	return int(max(0, ptr.Deref(sj.Spec.FailedJobsHistoryLimit, 1)))
}

func completedLimit(sj *stintv1.ScheduledJob) int {
	return int(min(1000, max(0, ptr.Deref(sj.Spec.CompletedExecutionsHistoryLimit, 20))))
}
