package model_test

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/schedule"
)

// ledger records what really happened, and checks every write against it.
type ledger struct {
	world *world
	// runs are those that have or had a Job, by the name of the Job.
	runs map[string]*run
	// lastSuccess is the latest completion of a run.
	lastSuccess *metav1.Time
}

// run is what the ledger knows about one run.
type run struct {
	// due is zero for runs on demand.
	due time.Time
	// noted reports whether the status has had its due time. If a user deletes the Job before, it may be created again. gone
	// reports whether the Job was deleted.
	noted, gone bool
}

func (l *ledger) wroteJob(was, is *batchv1.Job) {
	switch {
	case was == nil:
		l.created(is)
	case is == nil:
		l.deleted(was)
	case held(was) != held(is):
		l.suspendedOrResumed(is)
	}
	if is != nil && ended(is) && is.Status.CompletionTime != nil && l.lastSuccess.Before(is.Status.CompletionTime) {
		l.lastSuccess = is.Status.CompletionTime
	}
}

func (l *ledger) created(j *batchv1.Job) {
	w := l.world
	if w.Writer == nil {
		l.runs[j.Name] = &run{}
		return
	}
	if r := l.runs[j.Name]; r != nil && (r.noted || !r.gone) {
		w.Fail("%s starts again", j.Name)
	}
	due, err := time.Parse(time.RFC3339, j.Annotations[batchv1.CronJobScheduledTimestampAnnotation])
	n, _ := l.schedule().Count(due.Add(-time.Second), due)
	if err != nil || n != 1 || due.After(time.Now()) {
		w.Fail("%s starts for %v, %v", j.Name, due, err)
	}
	if w.cj().Spec.ConcurrencyPolicy != batchv1.AllowConcurrent {
		for _, other := range w.running() {
			// The controller may not have observed a run on demand yet.
			if other.Name != j.Name && !l.runs[other.Name].due.IsZero() {
				w.Fail("%s starts beside %s", j.Name, other.Name)
			}
		}
	}
	l.runs[j.Name] = &run{due: due}
}

func (l *ledger) deleted(j *batchv1.Job) {
	l.runs[j.Name].gone = true
	if l.world.Writer == nil {
		return
	}
	if !ended(j) && l.world.cj().Spec.ConcurrencyPolicy != batchv1.ReplaceConcurrent {
		l.world.Fail("%s is deleted", j.Name)
	}
	if r := l.runs[j.Name]; !r.due.IsZero() && !r.noted {
		l.world.Fail("%s is deleted before the status knows of it", j.Name)
	}
}

func (l *ledger) suspendedOrResumed(j *batchv1.Job) {
	switch {
	case l.world.cj().Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent:
		l.world.Fail("%s is held: %t", j.Name, held(j))
	case held(j) && !l.runs[j.Name].due.IsZero():
		l.world.Fail("the scheduled run %s is held", j.Name)
	}
	if held(j) {
		return
	}
	for _, other := range l.world.running() {
		if other.Name != j.Name && !l.runs[other.Name].due.IsZero() {
			l.world.Fail("%s is resumed beside %s", j.Name, other.Name)
		}
	}
}

func (l *ledger) wroteCronJob(was, is *batchv1.CronJob) {
	if was == nil || is == nil {
		return
	}
	before, last := was.Status.LastScheduleTime, is.Status.LastScheduleTime
	if before != nil && (last == nil || last.Before(before)) {
		l.world.Fail("lastScheduleTime goes back from %v to %v", before, last)
	}
	for _, r := range l.runs {
		r.noted = r.noted || last != nil && !last.Time.Before(r.due)
	}
	seen := map[string]bool{}
	for _, ref := range is.Status.Active {
		if seen[ref.Name] || l.runs[ref.Name] == nil {
			l.world.Fail("status.active lists %s twice, or it never was", ref.Name)
		}
		seen[ref.Name] = true
	}
}

func (l *ledger) schedule() schedule.Schedule {
	cj := l.world.cj()
	spec, err := schedule.ParseCron(cj.Spec.Schedule)
	if err != nil {
		l.world.Fail("the schedule: %v", err)
	}
	return spec.In(time.UTC, cj.CreationTimestamp.Time)
}

// isDone reports whether a CronJob controller has nothing left to do. Then it checks lastSuccessfulTime.
func (l *ledger) isDone() bool {
	cj := l.world.cj()
	n, due := l.schedule().Count(cj.CreationTimestamp.Time, time.Now())
	if n > 0 && (cj.Status.LastScheduleTime == nil || cj.Status.LastScheduleTime.Time.Before(due)) || len(cj.Status.Active) > 0 {
		return false
	}
	kept := map[bool]int32{}
	for _, j := range l.world.jobs.All() {
		if held(j) && !ended(j) {
			return false
		}
		kept[j.Status.CompletionTime != nil]++
	}
	if kept[true] > *cj.Spec.SuccessfulJobsHistoryLimit || kept[false] > *cj.Spec.FailedJobsHistoryLimit {
		return false
	}
	if s := cj.Status.LastSuccessfulTime; s != nil && l.lastSuccess.Before(s) {
		l.world.Fail("lastSuccessfulTime %v, the last success was at %v", s, l.lastSuccess)
	}
	return true
}
