package scheduledjob

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func entry(e stintv1.Execution) change {
	return func(sj *stintv1.ScheduledJob) {
		sj.Status.PendingExecutions = append(sj.Status.PendingExecutions, e)
	}
}

func TestPending(t *testing.T) {
	noTemplate := func(sj *stintv1.ScheduledJob) {
		sj.Spec.Template, sj.Spec.TemplateRef = nil, &corev1.LocalObjectReference{Name: "pods"}
	}
	tests := map[string]func(t *testing.T){
		"a run that is asked for twice runs once": func(t *testing.T) {
			newScene(t, aScheduledJob(requested("now"), requested("now"))).
				step(0, "create now | running now | count 1").edit(requested("now")).
				step(1, "running now | count 1").wantEvents(nil, "").
				end("now", completeAt(2)).edit(requested("now")).
				step(3, "completed now:ok | count 1").edit(requested("now")).
				step(4, "completed now:ok | count 1")
		},
		"what makes no sense is dropped, the rest runs": func(t *testing.T) {
			newScene(t, aScheduledJob(requested(""), requested("Not-A-Tag"), requested("a"),
				entry(stintv1.Execution{Tag: "b", Trigger: "Whim"}), entry(stintv1.Execution{Tag: "c", Trigger: stintv1.TriggerSchedule}),
				entry(stintv1.Execution{Tag: tagAt(0), Trigger: stintv1.TriggerManual}), requested("sixteen-letters-"))).
				step(0, "create a | running a | count 1").
				wantEvents(nil, strings.Join([]string{
					"Warning InvalidExecution: Dropped a pending execution: it has no tag",
					`Warning InvalidExecution: Dropped a pending execution: tag "Not-A-Tag" is neither a due time nor 1 to 15 of a-z, 0-9 and '-' that start with a letter and do not end with '-'`,
					`Warning InvalidExecution: Dropped a pending execution: trigger "Whim" does not match tag "b"`,
					`Warning InvalidExecution: Dropped a pending execution: trigger "Schedule" does not match tag "c"`,
					`Warning InvalidExecution: Dropped a pending execution: trigger "Manual" does not match tag "20260301-120000"`,
					`Warning InvalidExecution: Dropped a pending execution: tag "sixteen-letters-" is neither a due time nor 1 to 15 of a-z, 0-9 and '-' that start with a letter and do not end with '-'`,
				}, "\n"))
		},
		"what is missing is filled in": func(t *testing.T) {
			s := newScene(t, aScheduledJob(noTemplate, requested("a"), entry(stintv1.Execution{Tag: tagAt(-60), CreatedAt: metaTime(at(-30))})))
			s.decide(5)
			a, b := s.d.Status(nil).PendingExecutions[0], s.d.Status(nil).PendingExecutions[1]
			if a.Trigger != stintv1.TriggerManual || a.Status != stintv1.ExecutionPending || !a.CreatedAt.Time.Equal(at(5)) || a.DueAt != nil {
				t.Errorf("on demand: %+v", a)
			}
			if b.Trigger != stintv1.TriggerSchedule || !b.CreatedAt.Time.Equal(at(-30)) || !b.DueAt.Time.Equal(at(-60)) {
				t.Errorf("scheduled: %+v", b)
			}
		},
		"without its template a run waits for it, and is replaced by the next": func(t *testing.T) {
			newScene(t, every(60, noTemplate)).
				step(0, "pending +0:TemplateNotFound | last +0 | next +60").
				wantEvents(nil, `Warning TemplateNotFound: Run 20260301-120000 waits for PodTemplate "pods"`).
				step(1, "pending +0:TemplateNotFound | last +0 | next +60").wantEvents(nil, "").
				step(60, "pending +60:TemplateNotFound | skipped 1 | last +60 | next +120").
				edit(func(sj *stintv1.ScheduledJob) { sj.Spec.Template = every(60).Spec.Template }).
				step(61, "create +60 | running +60 | count 1 | skipped 1 | last +60 | next +120")
		},
		"overrides for a container that is not there end the run, and the next one has its turn": func(t *testing.T) {
			wrong := stintv1.Execution{Tag: "a", Overrides: &stintv1.Overrides{Container: "sidecar"}}
			newScene(t, every(60, oneAtATime, blocking, entry(wrong), requested("b"))).
				step(0, "create b | pending +0:Blocked | running b | completed a:InvalidOverrides | count 1 | last +0 | next +60").
				wantEvents(nil, strings.Join([]string{
					`Warning SawCompletedRun: Saw completed run a, failed: InvalidOverrides: overrides: there is no container "sidecar": the template has main`,
					`Warning Blocked: Schedule blocked: run a failed: InvalidOverrides: overrides: there is no container "sidecar": the template has main`,
					`Normal RunQueued: Run 20260301-120000 waits until the schedule is resumed: run a failed: InvalidOverrides: overrides: there is no container "sidecar": the template has main`,
				}, "\n"))
		},
		"a creation without a clear answer is looked up": func(t *testing.T) {
			s := newScene(t, every(60, requested("a"))).
				stepWith(0, "create a +0 | pending a:FailedCreate | running +0 | count 1 | last +0 | next +60",
					forbidden, Outcome{Job: jobOf(every(60), tagAt(0), 0)})
			if got := strings.Join(JobsToGetLive(s.sj), " "); got != "report-20260301-120000 report-a" {
				t.Errorf("gets %s live", got)
			}
		},
		"a run that may be concurrent again starts at once": func(t *testing.T) {
			newScene(t, aScheduledJob(oneAtATime, requested("a"), requested("b"), requested("c"))).
				step(0, "create a | pending b:Queued c:Queued | running a | count 1").
				newSpec(func(sj *stintv1.ScheduledJob) { sj.Spec.AllowConcurrentRun = nil }).
				step(1, "create b c | running a b c | count 3").
				newSpec(oneAtATime).edit(requested("d")).end("a", completeAt(2)).
				step(2, "pending d:Queued | running b c | completed a:ok | count 3")
		},
		"the latest alone stays when skipOutdated is switched on": func(t *testing.T) {
			newScene(t, every(60, oneAtATime, keepingOutdated)).
				step(150, "create +0 | pending +60:Queued +120:Queued | running +0 | count 1 | last +120 | next +180").
				newSpec(func(sj *stintv1.ScheduledJob) { sj.Spec.Schedule.SkipOutdated = ptr.To(true) }).
				step(151, "pending +120:Queued | running +0 | count 1 | skipped 1 | last +120 | next +180")
		},
	}
	for name, test := range tests {
		t.Run(name, test)
	}
}
