package why

import (
	"fmt"
	"io"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/schedule"
)

// Schedule writes why no run of a CronJob or ScheduledJob is active, and when the next one starts.
func (t Text) Schedule(w io.Writer, object metav1.Object, now time.Time) error {
	p := screenText{Text: t, now: now}
	switch o := object.(type) {
	case *batchv1.CronJob:
		p.cronJob(o)
	case *stintv1.ScheduledJob:
		p.scheduledJob(o)
	}
	_, err := io.WriteString(w, p.text.String())
	return err
}

func (p *screenText) cronJob(c *batchv1.CronJob) {
	suspended := ptr.Deref(c.Spec.Suspend, false)
	p.headline("CronJob "+c.Name, stateOfSchedule(suspended, false, len(c.Status.Active)), nil, yellow)
	if suspended {
		p.row("Waits for", "being resumed: "+p.Caller.Command(c.Namespace, "resume", "cronjob/"+c.Name))
	}
	p.forbidden(c)
	for i, ref := range c.Status.Active {
		p.row(first(i, "Running"), "job "+ref.Name+": see "+p.why(c.Namespace, ref.Name))
	}
	p.last(c.Status.LastScheduleTime, c.Status.LastSuccessfulTime)
	switch next, ok, why := p.nextOf(c, p.now); {
	case p.NoController:
		p.row("Next", "nothing, until a server runs on this data directory: "+p.Caller.Command("", "server"))
	case suspended:
		p.row("Next", "never, unless it is resumed")
	case ok:
		p.row("Next", "a run is due"+p.when(&metav1.Time{Time: next}))
	default:
		p.row("Next", why)
	}
}

// forbidden shows a due run that waits because of concurrencyPolicy Forbid, and the runs that it waits for.
func (p *screenText) forbidden(c *batchv1.CronJob) {
	if c.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent || len(c.Status.Active) == 0 || ptr.Deref(c.Spec.Suspend, false) {
		return
	}
	due, waits := p.overdue(c)
	if !waits {
		return
	}
	for i, ref := range c.Status.Active {
		p.row(first(i, "Waits for"), "job "+ref.Name+" to end: "+p.why(c.Namespace, ref.Name))
	}
	p.row("Due", "the run of "+p.clock(due)+" ("+p.ago(due)+"), which waits because of concurrencyPolicy Forbid")
}

// overdue returns the latest due time that has passed without a run.
func (p *screenText) overdue(c *batchv1.CronJob) (due time.Time, ok bool) {
	if c.Status.LastScheduleTime == nil {
		return due, false
	}
	const most = 1000 // due times of most of a day, for a schedule of every minute
	due = c.Status.LastScheduleTime.Time
	for range most {
		next, further, _ := p.nextOf(c, due)
		if !further || next.After(p.now) {
			break
		}
		due, ok = next, true
	}
	if deadline := c.Spec.StartingDeadlineSeconds; ok && deadline != nil && p.now.Sub(due) > time.Duration(*deadline)*time.Second {
		return due, false
	}
	return due, ok
}

func (p *screenText) why(namespace, job string) string {
	return p.Caller.Command(namespace, "why", "job/"+job)
}

// nextOf returns the next due time of a CronJob, or why there is none.
func (p *screenText) nextOf(c *batchv1.CronJob, after time.Time) (next time.Time, ok bool, why string) {
	zone := p.Zone
	spec, err := schedule.ParseCron(c.Spec.Schedule)
	if err == nil && c.Spec.TimeZone != nil {
		zone, err = schedule.LoadZone(*c.Spec.TimeZone)
	}
	switch {
	case err != nil:
		return next, false, "nothing: " + err.Error()
	case p.Remote && c.Spec.TimeZone == nil:
		return next, false, "a run is due by " + c.Spec.Schedule + ", in the time zone of the controller"
	}
	next, ok = spec.In(zone, c.CreationTimestamp.Time).Next(after)
	return next, ok, "nothing: the schedule has no further time"
}

func (p *screenText) scheduledJob(s *stintv1.ScheduledJob) {
	name := "scheduledjob/" + s.Name
	suspended := ptr.Deref(s.Spec.Suspend, false)
	blocked := meta.FindStatusCondition(s.Status.Conditions, stintv1.ConditionBlocked)
	isBlocked := blocked != nil && blocked.Status == metav1.ConditionTrue
	p.headline("ScheduledJob "+s.Name, stateOfSchedule(suspended, isBlocked, len(s.Status.RunningExecutions)), nil, yellow)
	if suspended {
		p.row("Waits for", "being resumed: "+p.Caller.Command(s.Namespace, "resume", name))
	}
	if isBlocked {
		p.row("Waits for", fmt.Sprintf("being resumed after a failed run (%s): %s", blocked.Message,
			p.Caller.Command(s.Namespace, "resume", name)))
	}
	for i, e := range s.Status.RunningExecutions {
		p.row(first(i, "Running"), "run "+e.Tag+": see "+p.why(s.Namespace, s.Name+"-"+e.Tag))
	}
	for i, e := range s.Status.PendingExecutions[:min(len(s.Status.PendingExecutions), waitsTold)] {
		p.row(first(i, "Pending"), "run "+e.Tag+": "+e.Reason+" "+e.Message)
	}
	if c := meta.FindStatusCondition(s.Status.Conditions, stintv1.ConditionInvalidSchedule); c != nil && c.Status == metav1.ConditionTrue {
		p.row("Schedule", "is invalid: "+c.Message)
	}
	p.last(s.Status.LastScheduleTime, s.Status.LastSuccessfulTime)
	switch {
	case p.NoController:
		p.row("Next", "nothing, until a server runs on this data directory: "+p.Caller.Command("", "server"))
	case suspended || isBlocked:
		p.row("Next", "only runs on demand: "+p.Caller.Command(s.Namespace, "trigger", name))
	case s.Status.NextScheduleTime != nil:
		p.row("Next", "a run is due"+p.when(s.Status.NextScheduleTime))
	default:
		p.row("Next", "nothing is due: "+p.Caller.Command(s.Namespace, "trigger", name))
	}
}

func stateOfSchedule(suspended, blocked bool, running int) string {
	switch {
	case suspended:
		return "Suspended"
	case blocked:
		return "Blocked"
	case running > 0:
		return "Running"
	}
	return "WaitingForNextTime"
}

func (p *screenText) last(scheduled, succeeded *metav1.Time) {
	if scheduled != nil {
		p.row("Last run", "was due at "+p.clock(scheduled.Time)+" ("+p.ago(scheduled.Time)+")")
	}
	if succeeded != nil {
		p.row("", "succeeded last at "+p.clock(succeeded.Time)+" ("+p.ago(succeeded.Time)+")")
	}
}
