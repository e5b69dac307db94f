package cronjob_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cronjob"
	jobcore "github.com/stint-dev/stint/internal/job"
)

func TestConcurrencyPolicies(t *testing.T) {
	const (
		forbid  = batchv1.ForbidConcurrent
		replace = batchv1.ReplaceConcurrent
	)
	running := func() func(*situation) { return has(runOf("09:31:00"), listed) }
	type lists struct{ Suspend, Resume, Replace []string }
	tests := map[string]struct {
		given  *situation
		starts bool
		first  lists
		events []string
	}{
		"under Allow a run starts beside others": {given: hourly(running()), starts: true},
		"under Forbid it does not": {given: hourly(policy(forbid), running()),
			events: []string{"JobAlreadyActive"}},
		"under Forbid it starts when the other has ended": {given: hourly(policy(forbid), last("09:31:00"),
			has(runOf("09:31:00"), ended(batchv1.JobComplete, "09:31:00", "09:32:00"))), starts: true},
		"under Forbid a run that is being deleted counts until it is gone": {given: hourly(policy(forbid), has(runOf("09:31:00"), listed, beingDeleted)),
			events: []string{"JobAlreadyActive"}},
		"under Forbid a Job that is no run does not count": {given: hourly(policy(forbid), has(named("other"))), starts: true,
			events: []string{"UnexpectedJob"}},
		"under Forbid one that the status lists does": {given: hourly(policy(forbid), has(named("other"), listed)),
			events: []string{"JobAlreadyActive"}},
		"under Forbid it does not start beside a run on demand": {given: hourly(policy(forbid), has(manualRun("m", "09:40:00"))),
			events: []string{"JobAlreadyActive"}},
		"under Replace it replaces all others": {given: hourly(policy(replace), running(), has(manualRun("m", "09:40:00"), listed)),
			starts: true, first: lists{Replace: []string{"cj-29552251", "m"}}},
		"under Replace a run that is on its way out is left": {given: hourly(policy(replace), has(runOf("09:31:00"), listed, beingDeleted)), starts: true},

		"under Forbid a run on demand is held beside a scheduled one": {
			given: hourly(policy(forbid), last("10:00:00"), running(), has(manualRun("m", "09:40:00"))),
			first: lists{Suspend: []string{"m"}}},
		"under Forbid it is held beside one that came later, but by schedule": {
			given: hourly(policy(forbid), last("10:00:00"), has(manualRun("m", "09:30:30")), has(runOf("09:31:00"))),
			first: lists{Suspend: []string{"m"}}},
		"of two that came at once the older goes on": {
			given: hourly(policy(forbid), last("10:00:00"), has(manualRun("b", "09:40:00")), has(manualRun("a", "09:41:00"))),
			first: lists{Suspend: []string{"a"}}},
		"a run that is listed is never held": {
			given: hourly(policy(forbid), last("10:00:00"), has(manualRun("b", "09:41:00"), listed), has(manualRun("a", "09:40:00"))),
			first: lists{Suspend: []string{"a"}}},
		"one that a user has resumed is not held again": {
			given: hourly(policy(forbid), last("10:00:00"), running(), has(manualRun("m", "09:40:00"), held, func(_ *situation, j *batchv1.Job) {
				j.Spec.Suspend = ptr.To(false)
			}))},
		"held ones wait while another is active": {
			given:  hourly(policy(forbid), last("10:00:00"), running(), has(manualRun("m", "09:40:00"), held)),
			events: []string{"RunHeld"}},
		"the first of them goes on when none is, before what is due": {
			given: hourly(policy(forbid), has(manualRun("a", "09:41:00"), held), has(manualRun("b", "09:40:00"), held)),
			first: lists{Resume: []string{"b"}}, events: []string{"RunHeld", "JobAlreadyActive"}},
		"a policy that does not forbid resumes all": {
			given: hourly(last("10:00:00"), running(), has(manualRun("a", "09:41:00"), held), has(manualRun("b", "09:40:00"), held)),
			first: lists{Resume: []string{"b", "a"}}},
		"under Replace a run on demand replaces what is active": {
			given: hourly(policy(replace), last("10:00:00"), running(), has(manualRun("m", "09:40:00"))),
			first: lists{Replace: []string{"cj-29552251"}}},
		"under Replace the latest of several replaces the others": {
			given: hourly(policy(replace), last("10:00:00"), has(manualRun("a", "09:40:00")), has(manualRun("b", "09:41:00"))),
			first: lists{Replace: []string{"a"}}},
		"a CronJob that is deleted without its Jobs resumes them": {
			given: hourly(policy(forbid), running(), has(manualRun("m", "09:40:00"), held), func(s *situation) {
				s.cj.DeletionTimestamp, s.cj.Finalizers = ptr.To(metav1.NewTime(at("09:50:00"))), []string{metav1.FinalizerOrphanDependents}
			}),
			first: lists{Resume: []string{"m"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := test.given.decide("10:00:00")
			if (d.Start != nil) != test.starts {
				t.Errorf("starts %v, want %v", d.Start != nil, test.starts)
			}
			if diff := cmp.Diff(test.first, lists{names(d.Suspend), names(d.Resume), names(d.Replace)}); diff != "" {
				t.Errorf("first (-want +got):\n%s", diff)
			}
			if d.ReplansAfter() != (len(d.Suspend)+len(d.Resume)+len(d.Replace) > 0) {
				t.Errorf("goes first: %v", d.ReplansAfter())
			}
			if diff := cmp.Diff(test.events, reasons(d.Events)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestResumeUndoesSuspend(t *testing.T) {
	j := manualRun("m", "09:40:00")
	cronjob.SuspendRun(j, at("09:40:01"))
	if !ptr.Deref(j.Spec.Suspend, false) || j.Annotations[jobcore.HeldAnnotation] != "2026-03-10T09:40:01.000000000Z" {
		t.Errorf("held: suspend %v, annotations %v", ptr.Deref(j.Spec.Suspend, false), j.Annotations)
	}
	cronjob.ResumeRun(j)
	if diff := cmp.Diff(manualRun("m", "09:40:00").Annotations, j.Annotations); ptr.Deref(j.Spec.Suspend, true) || diff != "" {
		t.Errorf("resumed: suspend %v, annotations (-want +got):\n%s", ptr.Deref(j.Spec.Suspend, true), diff)
	}
}

func TestWhatANewRunHasToWaitFor(t *testing.T) {
	forbid := policy(batchv1.ForbidConcurrent)
	tests := map[string]struct {
		given *situation
		want  string
	}{
		"nothing, where nothing is active":       {given: hourly(forbid)},
		"nothing, where all have ended":          {given: hourly(forbid, has(runOf("09:31:00"), ended(batchv1.JobFailed, "09:31:00", "")))},
		"nothing, where the policy allows it":    {given: hourly(has(runOf("09:31:00")))},
		"the run that is active":                 {given: hourly(forbid, has(runOf("09:31:00"))), want: "cj-29552251"},
		"one that is held":                       {given: hourly(forbid, has(manualRun("m", "09:40:00"), held)), want: "m"},
		"the active one, where others wait, too": {given: hourly(forbid, has(manualRun("m", "09:30:10"), held), has(runOf("09:31:00"))), want: "cj-29552251"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if b := cronjob.Blocker(test.given.cj, test.given.jobs); b != nil {
				got = b.Name
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
