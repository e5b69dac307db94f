package scheduledjob

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// summary is a decision in one line: what is created and deleted, and the status after that. Times are in seconds after
// noon, and so are the tags of scheduled runs: +60.
func summary(d Decision, outcomes []Outcome) string {
	s := d.Status(outcomes)
	var parts []string
	add := func(what, value string) {
		if value != "" {
			parts = append(parts, what+" "+value)
		}
	}
	add("create", jobNames(d.Create))
	add("delete", jobNames(d.Delete))
	add("pending", listOf(s.PendingExecutions))
	add("running", listOf(s.RunningExecutions))
	add("completed", listOf(s.CompletedExecutions))
	add("count", number(s.ScheduleCount))
	add("skipped", number(s.SkippedCount))
	if s.LastScheduleTime != nil {
		add("last", seconds(s.LastScheduleTime.Time))
	}
	if s.NextScheduleTime != nil {
		add("next", seconds(s.NextScheduleTime.Time))
	}
	if !d.RequeueAt.IsZero() && (s.NextScheduleTime == nil || !s.NextScheduleTime.Time.Equal(d.RequeueAt)) {
		add("again", seconds(d.RequeueAt))
	}
	return strings.Join(parts, " | ")
}

func jobNames(jobs []*batchv1.Job) string {
	var names []string
	for _, job := range jobs {
		names = append(names, short(strings.TrimPrefix(job.Name, "report-")))
	}
	return strings.Join(names, " ")
}

// listOf returns the tags, each with "ok" if the run succeeded or else with its reason.
func listOf(list []stintv1.Execution) string {
	var all []string
	for _, e := range list {
		switch {
		case e.Success != nil && *e.Success:
			all = append(all, short(e.Tag)+":ok")
		case e.Reason != "":
			all = append(all, short(e.Tag)+":"+e.Reason)
		default:
			all = append(all, short(e.Tag))
		}
	}
	return strings.Join(all, " ")
}

func short(tag string) string {
	if due, ok := dueOf(tag); ok {
		return seconds(due)
	}
	return tag
}

func seconds(t time.Time) string { return fmt.Sprintf("%+d", t.Sub(noon)/time.Second) }

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// eventLines returns the events, one per line.
func eventLines(events []Event) string {
	var lines []string
	for _, e := range events {
		lines = append(lines, fmt.Sprintf("%s %s: %s", e.Type, e.Reason, e.Message))
	}
	return strings.Join(lines, "\n")
}
