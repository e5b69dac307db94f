package cronjob_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cronjob"
)

func TestStatus(t *testing.T) {
	succeeded := func(s *situation) { s.cj.Status.LastSuccessfulTime = ptr.To(metav1.NewTime(at("09:35:00"))) }
	tests := map[string]struct {
		given              *situation
		active             []string
		scheduled, success string
		events             []string
	}{
		"a run that is listed stays": {given: hourly(last("10:00:00"), has(runOf("09:31:00"), listed)), active: []string{"cj-29552251"}, scheduled: "10:00:00"},
		"a run that ended is an event and counts": {given: hourly(last("10:00:00"), has(runOf("09:31:00"), listed, ended(batchv1.JobComplete, "09:31:00", "09:32:00"))),
			scheduled: "10:00:00", success: "09:32:00", events: []string{"SawCompletedJob: Saw completed job: cj-29552251, condition: Complete"}},
		"one that failed is no success": {given: hourly(last("10:00:00"), has(runOf("09:31:00"), listed, ended(batchv1.JobFailed, "09:31:00", ""))),
			scheduled: "10:00:00", events: []string{"SawCompletedJob: Saw completed job: cj-29552251, condition: Failed"}},
		"success counts though the run was never listed": {given: hourly(last("10:00:00"), has(manualRun("m", "09:31:00"), ended(batchv1.JobComplete, "09:31:00", "09:32:00"))),
			scheduled: "10:00:00", success: "09:32:00"},
		"the latest success stays": {given: hourly(last("10:00:00"), succeeded, has(manualRun("m", "09:31:00"), ended(batchv1.JobComplete, "09:31:00", "09:32:00"))),
			scheduled: "10:00:00", success: "09:35:00"},
		"a listed run that is gone is an event": {given: hourly(last("10:00:00"), func(s *situation) { listed(s, named("gone")) }),
			scheduled: "10:00:00", events: []string{"MissingJob: Active job went missing: gone"}},
		"one that the controller has deleted is not": {given: hourly(last("10:00:00"), func(s *situation) {
			listed(s, named("gone"))
			s.deleted = map[types.UID]bool{s.cj.Status.Active[0].UID: true}
		}), scheduled: "10:00:00"},
		"a run on demand is listed": {given: hourly(last("10:00:00"), has(manualRun("m", "09:31:00"))), active: []string{"m"}, scheduled: "10:00:00"},
		"a held one is not": {given: hourly(last("10:00:00"), policy(batchv1.ForbidConcurrent), has(runOf("09:31:00"), listed), has(manualRun("m", "09:32:00"), held)),
			active: []string{"cj-29552251"}, scheduled: "10:00:00",
			events: []string{"RunHeld: Job m waits until others have ended: concurrency policy is Forbid"}},
		"a Job that is no run is an event": {given: hourly(last("10:00:00"), has(named("other"))), scheduled: "10:00:00",
			events: []string{"UnexpectedJob: Saw a job that the controller did not create or forgot: other"}},
		"a run whose status was lost is found, and its due time with it": {given: hourly(has(runOf("10:00:00"))),
			active: []string{"cj-29552280"}, scheduled: "10:00:00"},
		"and if it has ended its due time is": {given: hourly(has(runOf("10:00:00"), ended(batchv1.JobComplete, "10:00:00", "10:00:01"))),
			scheduled: "10:00:00", success: "10:00:01", events: []string{"SawCompletedJob: Saw completed job: cj-29552280, condition: Complete"}},
		"also if the clock was set back since": {given: hourly(last("10:00:00"), has(runOf("15:00:00"))),
			active: []string{"cj-29552580"}, scheduled: "15:00:00"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := test.given.decide("10:00:30")
			if d.Start != nil || d.ReplansAfter() {
				t.Fatalf("starts %v, goes first %v", d.Start, d.ReplansAfter())
			}
			s := d.Status(nil)
			if diff := cmp.Diff(test.active, active(s)); diff != "" {
				t.Errorf("active (-want +got):\n%s", diff)
			}
			wantTime(t, "lastScheduleTime", s.LastScheduleTime, test.scheduled)
			wantTime(t, "lastSuccessfulTime", s.LastSuccessfulTime, test.success)
			var events []string
			for _, e := range d.Events {
				events = append(events, e.Reason+": "+e.Message)
			}
			if diff := cmp.Diff(test.events, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func wantTime(t *testing.T, what string, got *metav1.Time, want string) {
	t.Helper()
	if (got == nil) != (want == "") || got != nil && !got.Time.Equal(clock(want)) {
		t.Errorf("%s %v, want %q", what, got, want)
	}
}

func TestStatusAfterAStart(t *testing.T) {
	s := hourly()
	d := s.decide("10:00:00")
	started := d.Start.DeepCopy()
	started.UID, started.ResourceVersion = "u", "7"
	want := batchv1.CronJobStatus{
		LastScheduleTime: ptr.To(metav1.NewTime(at("10:00:00"))),
		Active: []corev1.ObjectReference{{APIVersion: "batch/v1", Kind: "Job", Namespace: "ns", Name: "cj-29552280",
			UID: "u", ResourceVersion: "7"}},
	}
	if diff := cmp.Diff(want, d.Status(started)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(batchv1.CronJobStatus{}, d.Status(nil)); diff != "" {
		t.Errorf("where no Job was made (-want +got):\n%s", diff)
	}
	ended(batchv1.JobComplete, "10:00:00", "10:00:01")(nil, started)
	if got := d.Status(started); len(got.Active) != 0 || got.LastScheduleTime == nil {
		t.Errorf("a Job that was found and has ended: %v", got)
	}
}

func TestHistoryLimits(t *testing.T) {
	done := func(name, start string, how batchv1.JobConditionType) func(*situation) {
		return has(named(name), ended(how, start, start))
	}
	limits := func(successful, failed *int32) func(*situation) {
		return spec(func(s *batchv1.CronJobSpec) {
			s.SuccessfulJobsHistoryLimit, s.FailedJobsHistoryLimit = successful, failed
		})
	}
	all := func(s *situation) {
		for _, add := range []func(*situation){
			done("b", "09:35:00", batchv1.JobComplete), done("a", "09:36:00", batchv1.JobComplete), done("c", "09:36:00", batchv1.JobComplete),
			done("x", "09:34:00", batchv1.JobFailed), done("y", "09:33:00", batchv1.JobFailed),
			has(manualRun("m", "09:37:00"), ended(batchv1.JobComplete, "09:37:00", "09:37:00")),
			has(named("never"), ended(batchv1.JobFailed, "09:00:00", ""), func(_ *situation, j *batchv1.Job) { j.Status.StartTime = nil }),
			has(named("leaving"), ended(batchv1.JobComplete, "09:00:00", "09:00:00"), beingDeleted),
		} {
			add(s)
		}
	}
	tests := map[string]struct {
		given *situation
		want  []string
	}{
		"the oldest go, runs on demand are like others": {hourly(all), []string{"b", "y", "x"}},
		"by name where they started at once":            {hourly(all, limits(ptr.To[int32](2), ptr.To[int32](5))), []string{"b", "a"}},
		"none is kept at 0":                             {hourly(all, limits(ptr.To[int32](0), ptr.To[int32](0))), []string{"b", "a", "c", "m", "y", "x", "never"}},
		"all are kept without limits":                   {hourly(all, limits(nil, nil)), nil},
		"none goes from a CronJob that is itself on the way": {hourly(all, func(s *situation) {
			s.cj.DeletionTimestamp = ptr.To(metav1.NewTime(at("09:50:00")))
		}), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, names(test.given.decide("09:59:00").DeleteHistory)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingThatIsObservedIsChanged(t *testing.T) {
	s := hourly(has(runOf("09:31:00"), listed, ended(batchv1.JobComplete, "09:31:00", "09:32:00")), has(manualRun("m", "09:33:00")))
	was := cronjob.Observation{CronJob: s.cj.DeepCopy(), Now: at("10:00:00")}
	for _, j := range s.jobs {
		was.Jobs = append(was.Jobs, j.DeepCopy())
	}
	is := cronjob.Observation{CronJob: s.cj, Jobs: s.jobs, Now: at("10:00:00")}
	d := cronjob.Decide(is)
	started := d.Start
	started.Labels["l"] = "changed"
	_ = d.Status(started)
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("(-was +is):\n%s", diff)
	}
}
