package scenario_test

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// mostPending is how many runs of the schedule wait at the same time.
const mostPending = 100

// scheduledRules hold for every write of a ScheduledJob, whatever the scenario is about. Was is the ScheduledJob before
// the write.
var scheduledRules = []struct {
	says  string
	holds func(w *world, was *knownScheduled, o *stintv1.ScheduledJob) bool
}{
	{"a run is in one list, once", func(_ *world, _ *knownScheduled, o *stintv1.ScheduledJob) bool {
		return distinct(tagsOf(o.Status.PendingExecutions, o.Status.RunningExecutions, o.Status.CompletedExecutions))
	}},
	{"a run that is completed stays as it is", func(_ *world, was *knownScheduled, o *stintv1.ScheduledJob) bool {
		again := tagsOf(o.Status.PendingExecutions, o.Status.RunningExecutions)
		for _, e := range was.Status.CompletedExecutions {
			now := execution(o.Status.CompletedExecutions, e.Tag)
			if slices.Contains(again, e.Tag) || now != nil && !equality.Semantic.DeepEqual(*now, e) {
				return false
			}
		}
		return true
	}},
	{"a run that has started does not wait again", func(_ *world, was *knownScheduled, o *stintv1.ScheduledJob) bool {
		for _, e := range was.Status.RunningExecutions {
			if execution(o.Status.PendingExecutions, e.Tag) != nil {
				return false
			}
		}
		return true
	}},
	{"a run that has started is listed until its end is", func(_ *world, was *knownScheduled, o *stintv1.ScheduledJob) bool {
		for _, e := range was.Status.RunningExecutions {
			room := len(o.Status.CompletedExecutions) < int(ptr.Deref(o.Spec.CompletedExecutionsHistoryLimit, 20))
			if room && !slices.Contains(tagsOf(o.Status.RunningExecutions, o.Status.CompletedExecutions), e.Tag) {
				return false
			}
		}
		return true
	}},
	{"a run by hand is listed until it is completed", func(_ *world, was *knownScheduled, o *stintv1.ScheduledJob) bool {
		all := tagsOf(o.Status.PendingExecutions, o.Status.RunningExecutions, o.Status.CompletedExecutions)
		for _, e := range was.Status.PendingExecutions {
			if e.Trigger == stintv1.TriggerManual && !slices.Contains(all, e.Tag) {
				return false
			}
		}
		return true
	}},
	{"what is listed as running has started, and what as completed has ended", func(_ *world, _ *knownScheduled, o *stintv1.ScheduledJob) bool {
		for _, e := range o.Status.RunningExecutions {
			if e.Status != stintv1.ExecutionRunning || e.StartedAt == nil || e.CompletedAt != nil || e.JobName == "" {
				return false
			}
		}
		for _, e := range o.Status.CompletedExecutions {
			if e.Status != stintv1.ExecutionCompleted || e.CompletedAt == nil || e.Success == nil {
				return false
			}
		}
		return true
	}},
	{"lastScheduleTime of a ScheduledJob never goes back", func(_ *world, was *knownScheduled, o *stintv1.ScheduledJob) bool {
		return neverBack(was.Status.LastScheduleTime, o.Status.LastScheduleTime)
	}},
	{"the time of the last success never goes back", func(_ *world, was *knownScheduled, o *stintv1.ScheduledJob) bool {
		return neverBack(was.Status.LastSuccessfulTime, o.Status.LastSuccessfulTime)
	}},
	{"scheduleCount and skippedCount never fall", func(_ *world, was *knownScheduled, o *stintv1.ScheduledJob) bool {
		return o.Status.ScheduleCount >= was.Status.ScheduleCount && o.Status.SkippedCount >= was.Status.SkippedCount
	}},
	{"no more runs are counted than there were Jobs", func(w *world, was *knownScheduled, o *stintv1.ScheduledJob) bool {
		// A run that is no longer listed may be asked for again.
		forgets := ptr.Deref(o.Spec.CompletedExecutionsHistoryLimit, 1) == 0
		return w.gaps || forgets || o.Status.ScheduleCount <= int64(len(was.tags))
	}},
	{"without concurrency one run is listed as running", func(_ *world, was *knownScheduled, o *stintv1.ScheduledJob) bool {
		return was.concurrent || len(o.Status.RunningExecutions) <= 1
	}},
	{"no more runs of the schedule wait than fit into it", func(_ *world, _ *knownScheduled, o *stintv1.ScheduledJob) bool {
		n := 0
		for _, e := range o.Status.PendingExecutions {
			if e.Trigger == stintv1.TriggerSchedule {
				n++
			}
		}
		return n <= mostPending
	}},
	{"no more completed runs are listed than the limit allows", func(_ *world, was *knownScheduled, o *stintv1.ScheduledJob) bool {
		limit := int(ptr.Deref(o.Spec.CompletedExecutionsHistoryLimit, 20))
		return len(o.Status.CompletedExecutions) <= max(limit, len(was.Status.CompletedExecutions))
	}},
}

// scheduledRunRules hold for every Job that is made and that a ScheduledJob controls.
var scheduledRunRules = []struct {
	says  string
	holds func(w *world, owner *knownScheduled, j *batchv1.Job) bool
}{
	{"a run has one Job, ever", func(_ *world, owner *knownScheduled, j *batchv1.Job) bool {
		return !owner.tags[j.Labels[stintv1.LabelJobTag]]
	}},
	{"without concurrency a run starts when no other runs", func(w *world, owner *knownScheduled, j *batchv1.Job) bool {
		return w.gaps || owner.concurrent || !w.beside(owner.UID, j, func(*batchv1.Job) bool { return true })
	}},
	{"no run of the schedule starts while that is blocked", func(w *world, owner *knownScheduled, j *batchv1.Job) bool {
		blocks := owner.Spec.Schedule != nil && ptr.Deref(owner.Spec.Schedule.BlockOnFailure, false)
		blocked := blocks && meta.IsStatusConditionTrue(owner.Status.Conditions, stintv1.ConditionBlocked)
		return w.gaps || !isDueTime(j.Labels[stintv1.LabelJobTag]) || !blocked
	}},
	{"no run of the schedule starts before its time", func(_ *world, _ *knownScheduled, j *batchv1.Job) bool {
		due, err := time.Parse(tagLayout, j.Labels[stintv1.LabelJobTag])
		return err != nil || !j.CreationTimestamp.Time.Before(due)
	}},
}

// tagLayout is the layout of the tags of the schedule's runs.
const tagLayout = "20060102-150405"

func isDueTime(tag string) bool {
	_, err := time.Parse(tagLayout, tag)
	return err == nil
}

func tagsOf(lists ...[]stintv1.Execution) []string {
	var tags []string
	for _, e := range slices.Concat(lists...) {
		tags = append(tags, e.Tag)
	}
	return tags
}

func execution(list []stintv1.Execution, tag string) *stintv1.Execution {
	for i := range list {
		if list[i].Tag == tag {
			return &list[i]
		}
	}
	return nil
}
