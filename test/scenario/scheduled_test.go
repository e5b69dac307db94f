package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// scheduled is a handle on a ScheduledJob of the scene.
type scheduled struct{ object[*stintv1.ScheduledJob] }

// createScheduled creates the ScheduledJob and returns a handle on it.
func (s *scene) createScheduled(options ...func(*stintv1.ScheduledJob)) *scheduled {
	s.Helper()
	stored := s.column.scheduledJobs(s.namespace)
	created, err := stored.Create(s.Context(), aScheduledJob(options...), metav1.CreateOptions{})
	s.must(err)
	s.sees(created)
	return &scheduled{object[*stintv1.ScheduledJob]{
		subject: subject{s, "ScheduledJob", created.Name, created.UID}, stored: stored, describe: scheduledInWords, settles: s.settleScheduled,
	}}
}

// tag returns the tag of the k-th run of the schedule, from 0.
func (o *scheduled) tag(k int) string { o.Helper(); return o.due(k).Format(tagLayout) }

// due returns when the k-th run is due, from 0, of an interval in minutes or seconds.
func (o *scheduled) due(k int) time.Time {
	o.Helper()
	now := o.now()
	parts := strings.Split(now.Spec.Schedule.TimeSpec, "/")
	start := now.CreationTimestamp.Time
	if parts[1] != "" {
		var err error
		start, err = time.Parse(time.RFC3339, parts[1])
		o.must(err)
	}
	step, err := time.ParseDuration(strings.ToLower(strings.TrimPrefix(parts[2], "PT")))
	o.must(err)
	return start.UTC().Add(time.Duration(k) * step)
}

// tags returns the tags of the first n runs.
func (o *scheduled) tags(n int) []string {
	o.Helper()
	var tags []string
	for k := range n {
		tags = append(tags, o.tag(k))
	}
	return tags
}

// fallDue makes all runs of an interval in the past due at the same time: it writes a status that says that the
// schedule was observed before them, as after a controller was away.
func (o *scheduled) fallDue() {
	o.Helper()
	o.becomes(takenUp)
	before := metav1.NewTime(o.due(0).Add(-time.Second))
	o.updateStatus(func(now *stintv1.ScheduledJob) { now.Status.Schedule.Since = before })
}

// ask asks for runs, as is done on a cluster.
func (o *scheduled) ask(tags ...string) {
	o.Helper()
	o.askFor(executions(tags...)...)
}

func executions(tags ...string) []stintv1.Execution {
	var list []stintv1.Execution
	for _, tag := range tags {
		list = append(list, stintv1.Execution{Tag: tag})
	}
	return list
}

func (o *scheduled) askFor(list ...stintv1.Execution) {
	o.Helper()
	o.updateStatus(func(now *stintv1.ScheduledJob) {
		now.Status.PendingExecutions = append(now.Status.PendingExecutions, list...)
	})
}

// jobOf waits for the Job of a run.
func (o *scheduled) jobOf(tag string) (j *job) {
	o.Helper()
	o.eventually(func(h *history) string {
		list := h.jobsOf(o.uid)
		for _, found := range list {
			if found.Name == o.name+"-"+tag {
				j = o.handle(found)
				return ""
			}
		}
		return fmt.Sprintf("Job %s-%s; there are %v", o.name, tag, names(list))
	})
	return j
}

// succeeds waits for a run to start, and makes its only pod succeed.
func (o *scheduled) succeeds(tag string) *job {
	o.Helper()
	j := o.jobOf(tag)
	j.active(1).succeed()
	j.becomes(complete())
	return j
}

// fails is succeeds, but the pod fails.
func (o *scheduled) fails(tag string) *job {
	o.Helper()
	j := o.jobOf(tag)
	j.active(1).fail(1)
	j.becomes(failedBecause(""))
	return j
}

// has waits until the ScheduledJob controls exactly the Jobs of these runs.
func (o *scheduled) has(tags ...string) {
	o.Helper()
	var want []string
	for _, tag := range tags {
		want = append(want, o.name+"-"+tag)
	}
	slices.Sort(want)
	o.eventually(func(h *history) string {
		if got := names(h.jobsOf(o.uid)); !slices.Equal(got, want) {
			return fmt.Sprintf("the Jobs %v of %s; there are %v", want, o.name, got)
		}
		return ""
	})
}

// completed waits until a run is completed, and returns it as the status lists it.
func (o *scheduled) completed(tag string) stintv1.Execution {
	o.Helper()
	now := o.becomes(func(now *stintv1.ScheduledJob) string {
		if execution(now.Status.CompletedExecutions, tag) == nil {
			return "run " + tag + " completed"
		}
		return ""
	})
	return *execution(now.Status.CompletedExecutions, tag)
}

// settleScheduled returns when the controller of ScheduledJobs has provably synced all that was written until now: it
// has since brought another one's run to its end.
func (s *scene) settleScheduled() {
	s.Helper()
	s.markers++
	marker := s.createScheduled(func(o *stintv1.ScheduledJob) { o.Name = fmt.Sprint(markerPrefix, "scheduled-", s.markers) })
	marker.ask("run")
	marker.succeeds("run")
	marker.becomes(runs("completed=run count=1"))
}

// marked gives a Job the name, the labels and the owner reference of a ScheduledJob's run.
func (o *scheduled) marked(tag string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Name = o.name + "-" + tag
		labelled(stintv1.LabelJobName, o.name)(j)
		labelled(stintv1.LabelJobTag, tag)(j)
		j.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(o.now(), stintv1.SchemeGroupVersion.WithKind("ScheduledJob"))}
	}
}
