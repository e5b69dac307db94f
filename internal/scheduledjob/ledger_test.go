package scheduledjob

import (
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcore "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/schedule"
)

// ledger checks every decision and write against rules that must always hold.
type ledger struct {
	w *world
	// created are runs whose Job was created, each once; refused are those whose Job was refused for good; requested are those
	// that users requested and did not take back.
	created, refused, requested sets.Set[string]
	// completed are finished runs, still listed or not; skipped are pending runs that were skipped.
	completed, skipped sets.Set[string]
	// shielded are runs that a user removed from the list while they were being started: they may not end until they are
	// listed again, as the controller cannot find out about a run that ends before.
	shielded sets.Set[string]
}

func newLedger(w *world) *ledger {
	return &ledger{w: w, created: sets.New[string](), refused: sets.New[string](), requested: sets.New[string](),
		completed: sets.New[string](), skipped: sets.New[string](), shielded: sets.New[string]()}
}

// checkDecision checks what must hold for any decision.
func (l *ledger) checkDecision(obs Observation, d Decision) {
	sj := obs.ScheduledJob
	if sj.DeletionTimestamp != nil && (len(d.Create)+len(d.Delete) > 0 || !d.RequeueAt.IsZero() || !equality.Semantic.DeepEqual(d.Status(nil), sj.Status)) {
		l.w.t.Fatalf("acts on a ScheduledJob that is being deleted: %+v", d)
	}
	for _, tag := range d.starts {
		if triggerOf(tag) == stintv1.TriggerManual {
			continue
		}
		if suspended(sj) {
			l.w.t.Fatalf("starts %s while it is suspended", tag)
		}
		if s := d.Status(nil); blocksOnFailure(sj) && meta.IsStatusConditionTrue(s.Conditions, stintv1.ConditionBlocked) {
			l.w.t.Fatalf("starts %s while it is blocked", tag)
		}
		if due, _ := dueOf(tag); due.After(obs.Now) && !l.hadBefore(sj, tag) {
			l.w.t.Fatalf("starts %s at %s", tag, obs.Now)
		}
	}
	if sj.DeletionTimestamp == nil {
		l.checkQueue(obs, d)
	}
	shuffled := obs
	shuffled.Jobs = slices.Clone(obs.Jobs)
	slices.Reverse(shuffled.Jobs)
	if other := Decide(shuffled); !slices.Equal(other.starts, d.starts) || !equality.Semantic.DeepEqual(other.Status(nil), d.Status(nil)) {
		l.w.t.Fatalf("the order of Jobs changes the decision:\n%s", cmp.Diff(d.Status(nil), other.Status(nil)))
	}
}

// checkQueue expects that pending runs keep their order, that new ones are added at the end, and that the first one that
// the gate does not hold starts first.
func (l *ledger) checkQueue(obs Observation, d Decision) {
	before, after := tags(obs.ScheduledJob.Status.PendingExecutions), tags(d.Status(nil).PendingExecutions)
	place := 0
	for _, tag := range after {
		i := slices.Index(before, tag)
		if i < 0 {
			i = len(before)
		}
		if i < place {
			l.w.t.Fatalf("the queue was %v and is %v", before, after)
		}
		place = i
	}
	if concurrent(obs.ScheduledJob) || len(d.starts) == 0 {
		return
	}
	first := slices.IndexFunc(after, func(tag string) bool { return !d.draft.gate.holds(stintv1.Execution{Trigger: triggerOf(tag)}) })
	if len(d.starts) > 1 || after[first] != d.starts[0] {
		l.w.t.Fatalf("starts %v, the queue is %v", d.starts, after)
	}
}

// hadBefore reports whether a run was pending already: the clock may have been set back since.
func (l *ledger) hadBefore(sj *stintv1.ScheduledJob, tag string) bool {
	return has(sj.Status.PendingExecutions, tag)
}

// checkPure expects that Status and Events change neither the decision nor the observation.
func (l *ledger) checkPure(obs Observation, d Decision, outcomes []Outcome) {
	if !equality.Semantic.DeepEqual(d.Status(outcomes), d.Status(outcomes)) || !slices.Equal(d.Events(outcomes), d.Events(outcomes)) {
		l.w.t.Fatal("a decision says one thing and then another")
	}
	if again := Decide(obs); !slices.Equal(again.starts, d.starts) {
		l.w.t.Fatalf("starts %v and then %v", d.starts, again.starts)
	}
}

func (l *ledger) checkCreate(tag string) {
	if l.created.Has(tag) {
		l.w.t.Fatalf("run %s starts twice", tag)
	}
	if l.skipped.Has(tag) {
		l.w.t.Fatalf("run %s starts after it was skipped", tag)
	}
	l.created.Insert(tag)
	if concurrent(l.w.sj) {
		return
	}
	for other, job := range l.w.jobs {
		if !jobcore.Finished(job) {
			l.w.t.Fatalf("run %s starts beside %s", tag, other)
		}
	}
}

// checkDelete expects that the Job is finished and that its end has been written, or that its run was not to be listed any
// more.
func (l *ledger) checkDelete(job *batchv1.Job) {
	tag, _ := tagOf(l.w.sj.Name, job.Name)
	if !jobcore.Finished(job) || !l.completed.Has(tag) {
		l.w.t.Fatalf("deletes the Job of %s, of which no end is known", tag)
	}
}

func (l *ledger) checkStatus(obs Observation, d Decision, outcomes []Outcome) {
	if obs.ScheduledJob.DeletionTimestamp != nil {
		return
	}
	old, next := obs.ScheduledJob.Status, d.Status(outcomes)
	l.checkLists(obs.ScheduledJob, next)
	l.checkCounts(old, next)
	l.checkDueTimes(obs, d, outcomes)
	l.checkBlock(obs.ScheduledJob, next)
	for _, e := range slices.Concat(next.RunningExecutions, next.CompletedExecutions) {
		l.shielded.Delete(e.Tag)
	}
	for _, e := range next.CompletedExecutions {
		l.completed.Insert(e.Tag)
	}
	for _, job := range obs.Jobs {
		// With a short list, the write that adds the run may remove it in the same moment.
		if jobcore.Finished(job) {
			tag, _ := tagOf(obs.ScheduledJob.Name, job.Name)
			l.completed.Insert(tag)
		}
	}
}

func (l *ledger) checkLists(sj *stintv1.ScheduledJob, next stintv1.ScheduledJobStatus) {
	seen := sets.New[string]()
	check := func(list []stintv1.Execution, status stintv1.ExecutionStatus) {
		for _, e := range list {
			if seen.Has(e.Tag) || e.Status != status || e.Trigger != triggerOf(e.Tag) || e.CreatedAt == nil {
				l.w.t.Fatalf("run %s is listed twice, or wrongly: %+v", e.Tag, e)
			}
			seen.Insert(e.Tag)
			if l.completed.Has(e.Tag) && status != stintv1.ExecutionCompleted {
				l.w.t.Fatalf("run %s ended and is %s again", e.Tag, status)
			}
		}
	}
	check(next.PendingExecutions, stintv1.ExecutionPending)
	check(next.RunningExecutions, stintv1.ExecutionRunning)
	check(next.CompletedExecutions, stintv1.ExecutionCompleted)
	scheduled := len(scheduledOf(next.PendingExecutions))
	if scheduled > maxPending || skipsOutdated(sj) && scheduled > 1 {
		l.w.t.Fatalf("%d scheduled runs are pending", scheduled)
	}
	if !slices.IsSortedFunc(scheduledOf(next.PendingExecutions), func(a, b stintv1.Execution) int { return a.DueAt.Compare(b.DueAt.Time) }) {
		l.w.t.Fatalf("the queue is out of order: %v", tags(next.PendingExecutions))
	}
	if n := len(next.CompletedExecutions); n > completedLimit(sj) && !(&cursor{next.LastScheduleTime}).before(next.CompletedExecutions[0]) {
		l.w.t.Fatalf("%d completed runs are listed", n)
	}
}

func scheduledOf(list []stintv1.Execution) []stintv1.Execution {
	return slices.DeleteFunc(slices.Clone(list), func(e stintv1.Execution) bool { return e.Trigger != stintv1.TriggerSchedule })
}

func (l *ledger) checkCounts(old, next stintv1.ScheduledJobStatus) {
	switch {
	case next.ScheduleCount < old.ScheduleCount, next.ScheduleCount > int64(l.created.Len()):
		l.w.t.Fatalf("%d runs are said to have started, %d before; %d have", next.ScheduleCount, old.ScheduleCount, l.created.Len())
	case next.SkippedCount < old.SkippedCount:
		l.w.t.Fatalf("%d were skipped, and then %d", old.SkippedCount, next.SkippedCount)
	case old.LastScheduleTime != nil && next.LastScheduleTime.Before(old.LastScheduleTime):
		l.w.t.Fatalf("the cursor goes back from %s to %s", old.LastScheduleTime, next.LastScheduleTime)
	}
}

// checkDueTimes expects that every due time that this write handles is a run or counted as skipped.
func (l *ledger) checkDueTimes(obs Observation, d Decision, outcomes []Outcome) {
	old, next := obs.ScheduledJob.Status, d.Status(outcomes)
	runs := l.created.Clone()
	for i, o := range outcomes {
		if o.Final() {
			runs.Insert(d.starts[i])
		}
	}
	var skipped int64
	for _, e := range scheduledOf(old.PendingExecutions) {
		if Find(&next, e.Tag) == nil && !runs.Has(e.Tag) {
			l.skipped.Insert(e.Tag)
			skipped++
		}
	}
	if skipped > 0 && !skipsOutdated(obs.ScheduledJob) {
		l.w.t.Fatalf("%d runs that were pending are skipped", skipped)
	}
	direct := l.passedOver(obs, next, runs)
	if direct > 0 && !skipsOutdated(obs.ScheduledJob) && !suspended(obs.ScheduledJob) {
		l.w.t.Fatalf("%d due times are lost", direct)
	}
	if said := next.SkippedCount - old.SkippedCount; said != skipped+direct {
		l.w.t.Fatalf("%d runs are said to be skipped, %d are", said, skipped+direct)
	}
	recorded := slices.ContainsFunc(d.Events(outcomes), func(e Event) bool { return e.Reason == ReasonRunsSkipped })
	if queued := d.Status(nil); next.Schedule != nil && next.LastScheduleTime != nil && !d.draft.timetable.changed && len(scheduledOf(queued.PendingExecutions)) < maxPending {
		if left, _ := inForce(next.Schedule).Count(next.LastScheduleTime.Time, obs.Now); left > 0 {
			l.w.t.Fatalf("%d due times are not dealt with", left)
		}
	}
	if recorded != (skipped+direct > 0) {
		l.w.t.Fatalf("%d runs are skipped, the event says %v", skipped+direct, recorded)
	}
}

// passedOver returns how many due times the cursor passes that did not become runs.
func (l *ledger) passedOver(obs Observation, next stintv1.ScheduledJobStatus, runs sets.Set[string]) int64 {
	old := obs.ScheduledJob.Status
	first := old.Schedule == nil && old.ObservedGeneration == 0
	if next.Schedule == nil || next.LastScheduleTime == nil || !first && !cmp.Equal(old.Schedule, next.Schedule, timesEqual) {
		return 0
	}
	due := inForce(next.Schedule)
	after := time.Time{}
	if last := old.LastScheduleTime; last != nil && !last.Before(&next.Schedule.Since) {
		after = last.Time
	}
	var n int64
	if next.LastScheduleTime.After(after) {
		n, _ = due.Count(after, next.LastScheduleTime.Time)
	}
	for _, e := range next.PendingExecutions {
		runs.Insert(e.Tag)
	}
	for tag := range runs {
		if at, ok := dueOf(tag); ok && at.After(after) && !at.After(next.LastScheduleTime.Time) {
			here, _ := due.Count(at.Add(-time.Second), at)
			n -= here
		}
	}
	return n
}

var timesEqual = cmpopts.EquateApproxTime(0)

func inForce(s *stintv1.ObservedSchedule) schedule.Schedule {
	spec, err := schedule.Parse(s.TimeSpec)
	zone, unknown := schedule.LoadZone(s.TimeZone)
	if err != nil || unknown != nil {
		never, _ := schedule.Parse("R1/2000-01-01T00:00:00Z/PT1S")
		return never.In(time.UTC, s.Since.Time)
	}
	return spec.In(zone, s.Since.Time)
}

// checkBlock expects that a new failure blocks if, and only if, blockOnFailure is set.
func (l *ledger) checkBlock(sj *stintv1.ScheduledJob, next stintv1.ScheduledJobStatus) {
	blocked := meta.IsStatusConditionTrue(next.Conditions, stintv1.ConditionBlocked)
	if blocked && !blocksOnFailure(sj) {
		l.w.t.Fatal("is blocked though nothing blocks")
	}
	for _, e := range next.CompletedExecutions {
		if !*e.Success && !l.completed.Has(e.Tag) && blocksOnFailure(sj) && !blocked {
			l.w.t.Fatalf("run %s failed and does not block", e.Tag)
		}
	}
}
