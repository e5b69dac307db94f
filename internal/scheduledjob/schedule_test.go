package scheduledjob

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func inZone(zone string) change {
	return func(sj *stintv1.ScheduledJob) { sj.Spec.Schedule.TimeZone = ptr.To(zone) }
}

func TestSchedule(t *testing.T) {
	tests := map[string]func(t *testing.T){
		"an edited schedule is written before anything is due by it": func(t *testing.T) {
			newScene(t, every(60)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				newSpec(timed("R2//PT10S")).
				step(30, "running +0 | count 1 | last +0 | next +40 | again +30").
				step(30, "create +30 | running +0 +30 | count 2 | last +30 | next +40").
				step(40, "create +40 | running +0 +30 +40 | count 3 | last +40")
		},
		"what was due by an edited schedule and is pending still runs": func(t *testing.T) {
			newScene(t, every(60, oneAtATime)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				step(60, "pending +60:Queued | running +0 | count 1 | last +60 | next +120").
				newSpec(timed("@hourly")).
				step(61, "pending +60:Queued | running +0 | count 1 | last +60 | next +3600 | again +61").
				end(tagAt(0), completeAt(70)).
				step(70, "create +60 | running +60 | completed +0:ok | count 2 | last +60 | next +3600")
		},
		"a schedule edited in the second of a due time begins after it, as tags are times": func(t *testing.T) {
			newScene(t, every(60)).
				step(60, "create +60 | running +60 | count 1 | skipped 1 | last +60 | next +120").
				newSpec(timed("R2//PT30S")).
				step(60, "running +60 | count 1 | skipped 1 | last +60 | next +61 | again +60").
				step(61, "create +61 | running +60 +61 | count 2 | skipped 1 | last +61 | next +91")
		},
		"so does one edited in the second of a run that was not written down": func(t *testing.T) {
			newScene(t, every(60)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				lose(60).newSpec(timed("R2//PT30S")).
				step(60, "running +0 +60 | count 2 | last +60 | next +61 | again +60").
				step(61, "create +61 | running +0 +60 +61 | count 3 | last +61 | next +91")
		},
		"a due time to come that a person has run now holds no edited schedule up": func(t *testing.T) {
			newScene(t, every(60, requested("21000101-000000"))).
				step(0, "create +2330078400 | running +2330078400 | count 1 | skipped 1 | last +0 | next +60").
				newSpec(timed("R//PT30S")).
				step(1, "running +2330078400 | count 1 | skipped 1 | last +0 | next +31 | again +1")
		},
		"a schedule edited after the clock was set back loses none of its times": func(t *testing.T) {
			newScene(t, every(60)).
				step(600, "create +600 | running +600 | count 1 | skipped 10 | last +600 | next +660").
				newSpec(timed("R2//PT30S")).
				step(0, "running +600 | count 1 | skipped 10 | last +600 | next +601 | again +0").
				step(601, "create +601 | running +600 +601 | count 2 | skipped 10 | last +601 | next +631")
		},
		"a schedule that is added later begins then": func(t *testing.T) {
			newScene(t, aScheduledJob()).
				step(0, "").
				newSpec(timed("R/T12:00:00/PT60S")).
				step(200, "next +86400 | again +200")
		},
		"a schedule in force since before the controller came begins with the ScheduledJob": func(t *testing.T) {
			newScene(t, aScheduledJob(timed("R/T12:01:00/PT60S"))).
				step(200, "create +180 | running +180 | count 1 | skipped 2 | last +180 | next +240")
		},
		"another zone is another schedule": func(t *testing.T) {
			newScene(t, aScheduledJob(timed("30 13 * * *"))).
				step(0, "next +5400").
				newSpec(inZone("Europe/Berlin")).
				step(10, "next +1800 | again +10")
		},
		"without the schedule that it had nothing is due any more": func(t *testing.T) {
			newScene(t, every(60, oneAtATime)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				step(60, "pending +60:Queued | running +0 | count 1 | last +60 | next +120").
				newSpec(func(sj *stintv1.ScheduledJob) { sj.Spec.Schedule = nil }).
				step(120, "pending +60:Queued | running +0 | count 1 | last +60").
				end(tagAt(0), completeAt(121)).
				step(121, "create +60 | running +60 | completed +0:ok | count 2 | last +60")
		},
		"a run that started by a schedule which is gone is counted once, though it was not written down": func(t *testing.T) {
			newScene(t, every(60)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				edit(func(sj *stintv1.ScheduledJob) { sj.Spec.CompletedExecutionsHistoryLimit = ptr.To[int32](0) }).
				lose(60).end(tagAt(60), completeAt(61)).
				newSpec(func(sj *stintv1.ScheduledJob) { sj.Spec.Schedule = nil }).
				step(62, "running +0 | count 2 | last +60").
				step(63, "running +0 | count 2 | last +60")
		},
		"of a schedule that is invalid nothing is due, runs on demand go on": func(t *testing.T) {
			newScene(t, aScheduledJob(timed("now and then"))).
				step(0, "").
				wantEvents(nil, "Warning InvalidSchedule: Nothing is due: expected exactly 5 fields, found 3: [now and then]; "+
					"write MINUTE HOUR DAY-OF-MONTH MONTH DAY-OF-WEEK, or @hourly, @daily, @weekly, @monthly, @yearly, @every 24h").
				step(1, "").wantEvents(nil, "").
				edit(requested("now")).
				step(2, "create now | running now | count 1").
				newSpec(timed("@hourly")).
				step(3, "running now | count 1 | next +3600 | again +3")
		},
		"an unknown zone is an event": func(t *testing.T) {
			s := newScene(t, aScheduledJob(timed("@hourly"), inZone("Mars/Olympus"))).step(0, "")
			if c := conditionOf(s.sj, stintv1.ConditionInvalidSchedule); c == nil || c.Status != metav1.ConditionTrue || len(s.d.Events(nil)) != 1 {
				t.Errorf("condition %+v, events %v", c, s.d.Events(nil))
			}
			s.newSpec(inZone("Europe/Berlin")).step(1, "next +3600 | again +1")
			if c := conditionOf(s.sj, stintv1.ConditionInvalidSchedule); c != nil {
				t.Errorf("still %+v", c)
			}
		},
		"no more than a hundred scheduled runs are pending, and none is lost": func(t *testing.T) {
			sj := every(1, oneAtATime, keepingOutdated, requested("now"))
			s := newScene(t, sj)
			s.decide(250)
			if got := s.d.Status(nil); len(got.PendingExecutions) != 101 || !got.LastScheduleTime.Time.Equal(at(99)) || !s.d.RequeueAt.Equal(at(250)) {
				t.Fatalf("%d are pending up to %s, requeues at %s", len(got.PendingExecutions), got.LastScheduleTime, s.d.RequeueAt)
			}
			s.sj.Status = s.d.Status(created(s.d, at(250)))
			s.jobs = append(s.jobs, created(s.d, at(250))[0].Job)
			s.decide(250)
			if got := s.d.Status(nil); len(got.PendingExecutions) != 100 || got.SkippedCount != 0 || !s.d.RequeueAt.Equal(at(251)) {
				t.Fatalf("%d are pending, requeues at %s", len(got.PendingExecutions), s.d.RequeueAt)
			}
		},
		"all that were missed start, a hundred at a time": func(t *testing.T) {
			s := newScene(t, every(1, keepingOutdated))
			for _, n := range []int{100, 200, 251} {
				s.decide(250)
				outcomes := created(s.d, at(250))
				for _, o := range outcomes {
					s.jobs = append(s.jobs, o.Job)
				}
				s.sj.Status = s.d.Status(outcomes)
				if len(s.sj.Status.RunningExecutions) != n || s.d.RequeueAt.After(at(250)) != (n == 251) {
					t.Fatalf("%d run, requeues at %s", len(s.sj.Status.RunningExecutions), s.d.RequeueAt)
				}
			}
		},
		"no more than a thousand run at a time": func(t *testing.T) {
			sj := aScheduledJob(requested("now"))
			s := newScene(t, sj)
			for i := range maxRunning {
				e := stintv1.Execution{Tag: tagAt(i), Trigger: stintv1.TriggerSchedule, DueAt: metaTime(at(i))}
				sj.Status.RunningExecutions = append(sj.Status.RunningExecutions, e)
				s.jobs = append(s.jobs, jobOf(sj, e.Tag, i))
			}
			s.decide(2000)
			if e := s.d.Status(nil).PendingExecutions; len(s.d.Create) != 0 || len(e) != 1 || e[0].Message != "waits: at most 1000 runs run at a time" {
				t.Errorf("creates %d, pending %+v", len(s.d.Create), e)
			}
		},
	}
	for name, test := range tests {
		t.Run(name, test)
	}
}
