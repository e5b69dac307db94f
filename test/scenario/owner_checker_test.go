package scenario_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// TestCronInvariantsNotice breaks every invariant of CronJobs once.
func TestCronInvariantsNotice(t *testing.T) {
	forbids := storedCron(policy(batchv1.ForbidConcurrent))
	var rules []string
	for _, rule := range cronRules {
		rules = append(rules, rule.says)
	}
	for _, rule := range cronRunRules {
		rules = append(rules, rule.says)
	}
	expectNoticed(t, rules, map[string][]metav1.Object{
		"lastScheduleTime never goes back":                 {storedCron(scheduledAt(2)), storedCron(scheduledAt(1))},
		"lastSuccessfulTime never goes back":               {storedCron(succeededAt(2)), storedCron()},
		"a Job is listed as active once":                   {storedCron(), aRun("j", 1), storedCron(listed("j", "j"))},
		"only Jobs of its own are listed as active":        {storedCron(), aRun("j", 1), storedCron(listed("k"))},
		"a time has one Job, ever":                         {storedCron(), aRun("j", 1), aRun("k", 1)},
		"without concurrency no run starts beside another": {forbids, aRun("j", 1), aRun("k", 2)},
	})
}

// TestScheduledInvariantsNotice breaks every invariant of ScheduledJobs once.
func TestScheduledInvariantsNotice(t *testing.T) {
	var rules []string
	for _, rule := range scheduledRules {
		rules = append(rules, rule.says)
	}
	for _, rule := range scheduledRunRules {
		rules = append(rules, rule.says)
	}
	pending, running, completed := storedScheduled(waiting("a")), storedScheduled(executing("a")), storedScheduled(completedRun("a", true))
	alone := storedScheduled(oneAtATime)
	expectNoticed(t, rules, map[string][]metav1.Object{
		"a run is in one list, once":                        {storedScheduled(waiting("a"), executing("a"))},
		"a run that is completed stays as it is":            {completed, storedScheduled(completedRun("a", false))},
		"a run that has started does not wait again":        {running, pending},
		"a run that has started is listed until its end is": {running, storedScheduled()},
		"a run by hand is listed until it is completed":     {pending, storedScheduled()},
		"what is listed as running has started, and what as completed has ended": {storedScheduled(func(o *stintv1.ScheduledJob) {
			o.Status.RunningExecutions = []stintv1.Execution{{Tag: "a"}}
		})},
		"lastScheduleTime of a ScheduledJob never goes back": {storedScheduled(dealtWith(2)), storedScheduled(dealtWith(1))},
		"the time of the last success never goes back": {storedScheduled(func(o *stintv1.ScheduledJob) {
			o.Status.LastSuccessfulTime = &metav1.Time{}
		}), storedScheduled()},
		"scheduleCount and skippedCount never fall":        {storedScheduled(skippedRuns(1)), storedScheduled()},
		"no more runs are counted than there were Jobs":    {storedScheduled(func(o *stintv1.ScheduledJob) { o.Status.ScheduleCount = 1 })},
		"without concurrency one run is listed as running": {storedScheduled(oneAtATime, executing("a", "b"))},
		"no more runs of the schedule wait than fit into it": {storedScheduled(func(o *stintv1.ScheduledJob) {
			for range mostPending + 1 {
				o.Status.PendingExecutions = append(o.Status.PendingExecutions, stintv1.Execution{Trigger: stintv1.TriggerSchedule})
			}
		})},
		"no more completed runs are listed than the limit allows": {storedScheduled(func(o *stintv1.ScheduledJob) {
			o.Spec.CompletedExecutionsHistoryLimit = ptr.To[int32](1)
			completedRun("a", true)(o)
			completedRun("b", true)(o)
		})},
		"a run has one Job, ever":                             {storedScheduled(), aRun("j", 1, tagged("a")), aRun("k", 2, tagged("a"))},
		"without concurrency a run starts when no other runs": {alone, aRun("j", 1, tagged("a")), aRun("k", 2, tagged("b"))},
		"no run of the schedule starts while that is blocked": {storedScheduled(isBlocked), aRun("j", 1, tagged("20260101-000000"))},
		"no run of the schedule starts before its time":       {storedScheduled(), aRun("j", 1, tagged("20260101-000000"))},
	})
}

const ownerUID types.UID = "owner"

func storedCron(options ...func(*batchv1.CronJob)) *batchv1.CronJob {
	c := aCronJob(options...)
	c.UID = ownerUID
	return c
}

func scheduledAt(second int64) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) { c.Status.LastScheduleTime = ptr.To(metav1.Unix(second, 0)) }
}

func succeededAt(second int64) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) { c.Status.LastSuccessfulTime = ptr.To(metav1.Unix(second, 0)) }
}

func listed(uids ...types.UID) func(*batchv1.CronJob) {
	return func(c *batchv1.CronJob) {
		for _, uid := range uids {
			c.Status.Active = append(c.Status.Active, corev1.ObjectReference{UID: uid})
		}
	}
}

// aRun is a Job of the owner for a minute.
func aRun(uid types.UID, minute int64, options ...func(*batchv1.Job)) *batchv1.Job {
	j := aJob(annotated(batchv1.CronJobScheduledTimestampAnnotation, time.Unix(60*minute, 0).UTC().Format(time.RFC3339)))
	j.UID, j.CreationTimestamp = uid, metav1.Unix(60*minute, 0)
	j.OwnerReferences = []metav1.OwnerReference{{UID: ownerUID, Controller: ptr.To(true)}}
	changing(options...)(j)
	return j
}

func tagged(tag string) func(*batchv1.Job) { return labelled(stintv1.LabelJobTag, tag) }

func storedScheduled(options ...func(*stintv1.ScheduledJob)) *stintv1.ScheduledJob {
	o := &stintv1.ScheduledJob{ObjectMeta: metav1.ObjectMeta{Name: "scheduled", UID: ownerUID}}
	changing(options...)(o)
	return o
}

func oneAtATime(o *stintv1.ScheduledJob) { o.Spec.AllowConcurrentRun = ptr.To(false) }

func waiting(tags ...string) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) {
		for _, tag := range tags {
			o.Status.PendingExecutions = append(o.Status.PendingExecutions, stintv1.Execution{
				Tag: tag, Trigger: stintv1.TriggerManual, Status: stintv1.ExecutionPending})
		}
	}
}

func executing(tags ...string) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) {
		for _, tag := range tags {
			o.Status.RunningExecutions = append(o.Status.RunningExecutions, stintv1.Execution{
				Tag: tag, Status: stintv1.ExecutionRunning, StartedAt: &metav1.Time{}, JobName: "job"})
		}
	}
}

func completedRun(tag string, success bool) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) {
		o.Status.CompletedExecutions = append(o.Status.CompletedExecutions, stintv1.Execution{
			Tag: tag, Status: stintv1.ExecutionCompleted, CompletedAt: &metav1.Time{}, Success: &success})
	}
}

func dealtWith(second int64) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) { o.Status.LastScheduleTime = ptr.To(metav1.Unix(second, 0)) }
}

func skippedRuns(n int64) func(*stintv1.ScheduledJob) {
	return func(o *stintv1.ScheduledJob) { o.Status.SkippedCount = n }
}

func isBlocked(o *stintv1.ScheduledJob) {
	every("R//PT1S")(o)
	blocksOnFailure(o)
	o.Status.Conditions = []metav1.Condition{{Type: stintv1.ConditionBlocked, Status: metav1.ConditionTrue}}
}
