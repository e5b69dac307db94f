package model_test

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcore "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/schedule"
)

// ledger records what really happened, and checks every write against it.
type ledger struct {
	world *world
	// runs are those that have or had a Job, by tag.
	runs map[string]*run
	// requested are the tags of runs on demand.
	requested map[string]bool
}

// run is what the ledger knows about one run.
type run struct {
	// job is the newest version of its Job; gone reports whether that was deleted.
	job  *batchv1.Job
	gone bool
	// listed reports whether a status has listed the run, or the controller has deleted its Job. If a user deletes the Job
	// before, it may be created again, as the controller cannot know of it.
	listed bool
	// code is the exit code of its container, -1 before the end.
	code int32
}

func scheduled(tag string) bool { return tag[0] >= '0' && tag[0] <= '9' }

func (l *ledger) wroteJob(was, is *batchv1.Job) {
	w := l.world
	if is == nil {
		r := l.runs[was.Labels[stintv1.LabelJobTag]]
		r.gone, r.listed = true, r.listed || w.Writer != nil
		return
	}
	tag := is.Labels[stintv1.LabelJobTag]
	if was != nil {
		l.runs[tag].job = is
		return
	}
	if r := l.runs[tag]; r != nil && (r.listed || !r.gone) {
		w.Fail("run %s gets a second Job", tag)
	}
	sj := w.sj()
	if is.Name != name+"-"+tag || is.OwnerReferences[0].UID != sj.UID {
		w.Fail("run %s gets a Job called %s, owned by %v", tag, is.Name, is.OwnerReferences)
	}
	if scheduled(tag) {
		l.mustBeDue(tag)
	} else if !l.requested[tag] {
		w.Fail("no user has requested run %s", tag)
	}
	if !*sj.Spec.AllowConcurrentRun {
		for other, r := range l.runs {
			if !r.gone && !jobcore.Finished(r.job) {
				w.Fail("run %s starts beside %s", tag, other)
			}
		}
	}
	l.runs[tag] = &run{job: is, code: -1}
}

func (l *ledger) schedule() schedule.Schedule {
	sj := l.world.sj()
	spec, err := schedule.Parse(sj.Spec.Schedule.TimeSpec)
	if err != nil {
		l.world.Fail("the schedule: %v", err)
	}
	return spec.In(time.UTC, sj.CreationTimestamp.Time)
}

func (l *ledger) mustBeDue(tag string) {
	due, err := time.Parse("20060102-150405", tag)
	if err != nil || due.After(time.Now()) {
		l.world.Fail("run %s starts at %v: %v", tag, time.Now(), err)
	}
	if n, _ := l.schedule().Count(due.Add(-time.Second), due); n != 1 {
		l.world.Fail("run %s is not due", tag)
	}
}

func (l *ledger) wroteScheduledJob(was, is *stintv1.ScheduledJob) {
	if was == nil || is == nil {
		return
	}
	w, before, after := l.world, was.Status, is.Status
	if after.ScheduleCount < before.ScheduleCount || after.SkippedCount < before.SkippedCount {
		w.Fail("counts fall: %d, %d and then %d, %d", before.ScheduleCount, before.SkippedCount, after.ScheduleCount, after.SkippedCount)
	}
	if last := before.LastScheduleTime; last != nil && after.LastScheduleTime.Before(last) {
		w.Fail("the cursor goes back from %v to %v", last, after.LastScheduleTime)
	}
	if int(after.ScheduleCount) > len(l.runs) {
		w.Fail("%d runs are counted, %d have started", after.ScheduleCount, len(l.runs))
	}
	pending := 0
	for _, e := range after.PendingExecutions {
		if scheduled(e.Tag) {
			pending++
		}
	}
	if pending > 100 {
		w.Fail("%d scheduled runs are pending", pending)
	}
	for _, e := range before.CompletedExecutions {
		if slices.ContainsFunc(slices.Concat(after.PendingExecutions, after.RunningExecutions), func(x stintv1.Execution) bool { return x.Tag == e.Tag }) {
			w.Fail("run %s comes back", e.Tag)
		}
	}
	for _, e := range after.CompletedExecutions {
		l.mustBeTrue(e)
	}
	for _, e := range slices.Concat(after.RunningExecutions, after.CompletedExecutions) {
		l.runs[e.Tag].listed = true
	}
	l.keepsRequested(&before, &after)
}

// mustBeTrue compares what the status says about a finished run with what happened.
func (l *ledger) mustBeTrue(e stintv1.Execution) {
	w, r := l.world, l.runs[e.Tag]
	switch {
	case r == nil:
		w.Fail("run %s has ended and never had a Job", e.Tag)
	case e.JobUID != "" && e.JobUID != r.job.UID:
		w.Fail("run %s names Job %s, not %s", e.Tag, e.JobUID, r.job.UID)
	case e.Reason == "JobDeleted":
		if !r.gone {
			w.Fail("the Job of run %s is said to be deleted", e.Tag)
		}
	case r.code < 0:
		w.Fail("run %s is said to have ended", e.Tag)
	case *e.Success != (r.code == 0):
		w.Fail("run %s ended with %d, success is %t", e.Tag, r.code, *e.Success)
	}
	for _, c := range e.ExitCodes {
		if c.Code != r.code || c.Pods != 1 {
			w.Fail("run %s ended with %d, the exit codes are %+v", e.Tag, r.code, e.ExitCodes)
		}
	}
}

// keepsRequested makes sure that no run on demand is dropped.
func (l *ledger) keepsRequested(before, after *stintv1.ScheduledJobStatus) {
	for _, e := range before.PendingExecutions {
		here := slices.ContainsFunc(slices.Concat(after.PendingExecutions, after.RunningExecutions, after.CompletedExecutions),
			func(x stintv1.Execution) bool { return x.Tag == e.Tag })
		if !here && !scheduled(e.Tag) && l.runs[e.Tag] == nil {
			l.world.Fail("run %s, which a user has requested, is dropped", e.Tag)
		}
	}
}

// upToDate reports whether all due times are handled, and no run is pending or running.
func (l *ledger) upToDate() bool {
	s := l.world.sj().Status
	if len(s.PendingExecutions)+len(s.RunningExecutions) > 0 {
		return false
	}
	n, last := l.schedule().Count(time.Time{}, time.Now())
	return n == 0 || s.LastScheduleTime != nil && !s.LastScheduleTime.Time.Before(last)
}

// checkEnd checks the end of a test: every due time was one run or skipped, all requested runs have run, and the counts of
// the status are right.
func (l *ledger) checkEnd() {
	w, s := l.world, l.world.sj().Status
	// unknown counts runs that no status has listed and whose Jobs are gone. With a history limit of 0, a status may have
	// counted them all the same.
	ran, started, unknown := 0, 0, 0
	for tag, r := range l.runs {
		switch {
		case !r.listed && r.gone:
			unknown++
			continue
		case scheduled(tag):
			ran++
		}
		started++
	}
	within := func(n, least int) bool { return n >= least && n <= least+unknown }
	var due int64
	if s.LastScheduleTime != nil {
		due, _ = l.schedule().Count(time.Time{}, s.LastScheduleTime.Time)
	}
	if !within(int(due-s.SkippedCount), ran) {
		w.Fail("%d due times, %d runs, %d skipped", due, ran, s.SkippedCount)
	}
	for tag := range l.requested {
		if l.runs[tag] == nil {
			w.Fail("run %s, which a user has requested, never had a Job", tag)
		}
	}
	if !within(int(s.ScheduleCount), started) {
		w.Fail("%d runs are counted, %d have started", s.ScheduleCount, started)
	}
	if limit := int(*w.sj().Spec.CompletedExecutionsHistoryLimit); len(s.CompletedExecutions) != min(limit, int(s.ScheduleCount)) {
		w.Fail("%d runs have ended, %d are listed", s.ScheduleCount, len(s.CompletedExecutions))
	}
}

// withinLimits reports whether no more Jobs are left than the history limits allow.
func (l *ledger) withinLimits() bool {
	kept := map[bool]int{}
	for _, j := range l.world.jobs.All() {
		kept[l.runs[strings.TrimPrefix(j.Name, name+"-")].code == 0]++
	}
	spec := l.world.sj().Spec
	return kept[true] <= int(*spec.SuccessfulJobsHistoryLimit) && kept[false] <= int(*spec.FailedJobsHistoryLimit)
}
