package scheduledjob

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func conditionOf(sj *stintv1.ScheduledJob, kind string) *metav1.Condition {
	return meta.FindStatusCondition(sj.Status.Conditions, kind)
}

func clearBlock(sj *stintv1.ScheduledJob) {
	conditionOf(sj, stintv1.ConditionBlocked).Status = metav1.ConditionFalse
}

func removeBlock(sj *stintv1.ScheduledJob) {
	meta.RemoveStatusCondition(&sj.Status.Conditions, stintv1.ConditionBlocked)
}

func resumed(sj *stintv1.ScheduledJob) { sj.Spec.Suspend = nil }

// blocked is a scene whose first run has failed.
func blocked(t *testing.T, changes ...change) *scene {
	t.Helper()
	return newScene(t, every(60, append([]change{blocking}, changes...)...)).
		step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
		end(tagAt(0), failedAt(5)).
		step(5, "completed +0:FailedIndexes | count 1 | last +0 | next +60")
}

func TestBlock(t *testing.T) {
	const failed = "run 20260301-120000 failed: FailedIndexes: Job has failed indexes"
	tests := map[string]func(t *testing.T){
		"a failed run blocks the schedule until a person resumes it": func(t *testing.T) {
			s := blocked(t)
			if c := conditionOf(s.sj, stintv1.ConditionBlocked); c.Status != metav1.ConditionTrue || c.Reason != "RunFailed" || c.Message != failed {
				t.Errorf("condition %+v", c)
			}
			s.step(60, "pending +60:Blocked | completed +0:FailedIndexes | count 1 | last +60 | next +120").
				wantEvents(nil, "Normal RunQueued: Run 20260301-120100 waits until the schedule is resumed: "+failed).
				step(120, "pending +120:Blocked | completed +0:FailedIndexes | count 1 | skipped 1 | last +120 | next +180").
				edit(clearBlock).
				step(130, "create +120 | running +120 | completed +0:FailedIndexes | count 2 | skipped 1 | last +120 | next +180").
				wantEvents(nil, "Normal Resumed: Schedule resumed").
				step(131, "running +120 | completed +0:FailedIndexes | count 2 | skipped 1 | last +120 | next +180").
				wantEvents(nil, "")
		},
		"removing the condition resumes too": func(t *testing.T) {
			blocked(t).edit(removeBlock).
				step(10, "completed +0:FailedIndexes | count 1 | last +0 | next +60").
				wantEvents(nil, "Normal Resumed: Schedule resumed").
				step(60, "create +60 | running +60 | completed +0:FailedIndexes | count 2 | last +60 | next +120").
				wantEvents(nil, "")
		},
		"runs on demand overtake what is blocked, and a good one does not resume": func(t *testing.T) {
			blocked(t, oneAtATime).
				step(60, "pending +60:Blocked | completed +0:FailedIndexes | count 1 | last +60 | next +120").
				edit(requested("now")).
				step(61, "create now | pending +60:Blocked | running now | completed +0:FailedIndexes | count 2 | last +60 | next +120").
				end("now", completeAt(62)).
				step(62, "pending +60:Blocked | completed +0:FailedIndexes now:ok | count 2 | last +60 | next +120")
		},
		"a run on demand that fails blocks too": func(t *testing.T) {
			newScene(t, every(60, blocking, requested("now"))).
				step(-1, "create now | running now | count 1 | next +0").
				end("now", failedAt(-1)).
				step(0, "pending +0:Blocked | completed now:FailedIndexes | count 1 | last +0 | next +60")
		},
		"a run that waits already records no event when it has to wait for another reason": func(t *testing.T) {
			newScene(t, every(60, blocking, oneAtATime)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				step(60, "pending +60:Queued | running +0 | count 1 | last +60 | next +120").
				wantEvents(nil, "Normal RunQueued: Run 20260301-120100 waits for run 20260301-120000").
				end(tagAt(0), failedAt(70)).
				step(70, "pending +60:Blocked | completed +0:FailedIndexes | count 1 | last +60 | next +120").
				wantEvents(nil, "Warning SawCompletedRun: Saw completed run 20260301-120000, failed: FailedIndexes: Job has failed indexes\n"+
					"Warning Blocked: Schedule blocked: "+failed)
		},
		"the first failure stays the reason": func(t *testing.T) {
			s := blocked(t).edit(requested("now")).
				step(6, "create now | running now | completed +0:FailedIndexes | count 2 | last +0 | next +60").
				end("now", failedAt(7)).
				step(8, "delete +0 | completed +0:FailedIndexes now:FailedIndexes | count 2 | last +0 | next +60")
			if c := conditionOf(s.sj, stintv1.ConditionBlocked); c.Message != failed || !c.LastTransitionTime.Time.Equal(at(5)) {
				t.Errorf("condition %+v", c)
			}
		},
		"without blockOnFailure a failure does not block": func(t *testing.T) {
			s := newScene(t, every(60)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				end(tagAt(0), failedAt(5)).
				step(60, "create +60 | running +60 | completed +0:FailedIndexes | count 2 | last +60 | next +120")
			if len(s.sj.Status.Conditions) != 0 {
				t.Errorf("conditions %+v", s.sj.Status.Conditions)
			}
		},
		"a block goes when failures do not block any more": func(t *testing.T) {
			s := blocked(t).newSpec(func(sj *stintv1.ScheduledJob) { sj.Spec.Schedule.BlockOnFailure = nil }).
				step(60, "create +60 | running +60 | completed +0:FailedIndexes | count 2 | last +60 | next +120").
				wantEvents(nil, "Normal Resumed: Schedule resumed: failed runs do not block it any more")
			if len(s.sj.Status.Conditions) != 0 {
				t.Errorf("conditions %+v", s.sj.Status.Conditions)
			}
		},
		"that failures block from now on is no resumption": func(t *testing.T) {
			newScene(t, every(60)).
				step(-1, "next +0").
				newSpec(blocking).
				step(-1, "next +0").wantEvents(nil, "")
		},
		"conditions are of the generation that the status is of, as clients wait for them": func(t *testing.T) {
			s := blocked(t).newSpec(suspending).
				step(10, "completed +0:FailedIndexes | count 1 | last +0 | next +60")
			for _, c := range s.sj.Status.Conditions {
				if c.ObservedGeneration != 2 {
					t.Errorf("condition %+v", c)
				}
			}
		},
		"a failure at the time of a run keeps that run back": func(t *testing.T) {
			newScene(t, every(60, blocking)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				end(tagAt(0), failedAt(60)).
				step(60, "pending +60:Blocked | completed +0:FailedIndexes | count 1 | last +60 | next +120")
		},
	}
	for name, test := range tests {
		t.Run(name, test)
	}
}

func TestSuspend(t *testing.T) {
	tests := map[string]func(t *testing.T){
		"due times pass while suspended, and count as skipped": func(t *testing.T) {
			s := newScene(t, every(60, suspending)).
				step(0, "skipped 1 | last +0 | next +60").
				wantEvents(nil, "Normal Suspended: Schedule suspended\nNormal RunsSkipped: Skipped the run that was due at 2026-03-01T12:00:00Z").
				step(130, "skipped 3 | last +120 | next +180").
				wantEvents(nil, "Normal RunsSkipped: Skipped 2 runs that were due from 2026-03-01T12:01:00Z to 2026-03-01T12:02:00Z")
			if c := conditionOf(s.sj, stintv1.ConditionSuspended); c.Status != metav1.ConditionTrue {
				t.Errorf("condition %+v", c)
			}
			s.newSpec(resumed).
				step(150, "skipped 3 | last +120 | next +180").
				wantEvents(nil, "Normal Resumed: Schedule resumed").
				step(180, "create +180 | running +180 | count 1 | skipped 3 | last +180 | next +240")
			if c := conditionOf(s.sj, stintv1.ConditionSuspended); c.Status != metav1.ConditionFalse {
				t.Errorf("condition %+v", c)
			}
		},
		"they pass with skipOutdated false too": func(t *testing.T) {
			newScene(t, every(60, suspending, keepingOutdated)).step(130, "skipped 3 | last +120 | next +180")
		},
		"pending scheduled runs wait while suspended, those on demand start": func(t *testing.T) {
			newScene(t, every(60, oneAtATime)).
				step(0, "create +0 | running +0 | count 1 | last +0 | next +60").
				step(60, "pending +60:Queued | running +0 | count 1 | last +60 | next +120").
				newSpec(suspending).edit(requested("now")).end(tagAt(0), completeAt(70)).
				step(70, "create now | pending +60:Suspended | running now | completed +0:ok | count 2 | last +60 | next +120").
				end("now", completeAt(80)).newSpec(resumed).
				step(80, "create +60 | running +60 | completed +0:ok now:ok | count 3 | last +60 | next +120")
		},
		"what started and was not written down is not skipped": func(t *testing.T) {
			newScene(t, every(60)).lose(0).newSpec(suspending).
				step(60, "running +0 | count 1 | skipped 1 | last +60 | next +120")
		},
	}
	for name, test := range tests {
		t.Run(name, test)
	}
}
