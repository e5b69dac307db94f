package cronjob_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cronjob"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestWhatStartsWhen(t *testing.T) {
	zone := func(name string) func(*situation) {
		return spec(func(s *batchv1.CronJobSpec) { s.TimeZone = &name })
	}
	tests := map[string]struct {
		given *situation
		now   string
		// starts is the due time; empty for none.
		starts, next string
		events       []string
	}{
		"before the first due time nothing starts": {given: hourly(), now: "09:59:59", next: "10:00:00"},
		"at the due time its Job starts":           {given: hourly(), now: "10:00:00", starts: "10:00:00", next: "11:00:00"},
		"a due time that has had its Job is over":  {given: hourly(last("10:00:00")), now: "10:00:01", next: "11:00:00"},
		"of several missed times the latest starts": {given: hourly(), now: "15:20:00",
			starts: "15:00:00", next: "16:00:00"},
		"a hundred missed are no event": {given: hourly(schedule("* * * * *")), now: "11:10:00", starts: "11:10:00", next: "11:11:00"},
		"more than a hundred are an event, and the latest starts": {given: hourly(schedule("* * * * *")), now: "11:11:00",
			starts: "11:11:00", next: "11:12:00", events: []string{"TooManyMissedTimes"}},
		"a deadline bounds what counts as missed": {given: hourly(schedule("* * * * *"), deadline(6000)), now: "23:11:00",
			starts: "23:11:00", next: "23:12:00"},
		"within the deadline it still starts": {given: hourly(deadline(60)), now: "10:00:59", starts: "10:00:00", next: "11:00:00"},
		"past the deadline it is missed": {given: hourly(deadline(60)), now: "10:01:00",
			next: "11:00:00", events: []string{"MissSchedule"}},
		"a deadline beyond all time is none":                {given: hourly(deadline(1 << 62)), now: "10:00:59", starts: "10:00:00", next: "11:00:00"},
		"a clock that was set back waits for what has been": {given: hourly(last("10:00:00")), now: "09:59:30", next: "11:00:00"},
		"and records an event if it takes long": {given: hourly(last("15:00:00")), now: "10:10:00",
			next: "16:00:00", events: []string{"LastScheduleInFuture"}},
		"a suspended CronJob starts nothing": {given: hourly(spec(func(s *batchv1.CronJobSpec) { s.Suspend = ptr.To(true) })), now: "10:00:00"},
		"a zone moves the day":               {given: hourly(schedule("0 18 * * *"), zone("Asia/Kolkata")), now: "12:31:00", starts: "12:30:00", next: "36:30:00"},
		"a zone that is unknown stops it": {given: hourly(zone("Mars/Phobos")), now: "10:00:00",
			events: []string{"UnknownTimeZone"}},
		"a schedule that is invalid stops it": {given: hourly(schedule("never")), now: "10:00:00",
			events: []string{"UnparseableSchedule"}},
		"one that is never due is an event": {given: hourly(schedule("0 0 31 2 *")), now: "10:00:00",
			events: []string{"InvalidSchedule"}},
		"a zone in a schedule of old holds": {given: hourly(schedule("CRON_TZ=Asia/Kolkata 0 18 * * *")), now: "12:31:00",
			starts: "12:30:00", next: "36:30:00", events: []string{"UnsupportedSchedule"}},
		"a zone in a schedule that is unknown stops it": {given: hourly(schedule("TZ=Mars/Phobos 0 18 * * *")), now: "12:31:00",
			events: []string{"UnparseableSchedule"}},
		"@every counts from the creation, not from the last run": {given: hourly(schedule("@every 7m"), last("09:40:00")), now: "09:44:00",
			starts: "09:44:00", next: "09:51:00"},
		"a last time from before the creation counts": {given: hourly(last("06:00:00")), now: "09:30:00", starts: "09:00:00", next: "10:00:00"},
		"a CronJob that is being deleted starts nothing": {given: hourly(func(s *situation) {
			s.cj.DeletionTimestamp = ptr.To(metav1.NewTime(at("09:50:00")))
		}), now: "10:00:00"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := test.given.decide(test.now)
			if want := clock(test.starts); !d.Due.Equal(want) {
				t.Errorf("due %v, want %v", d.Due, want)
			}
			if want := clock(test.next); !d.RequeueAt.Equal(want) {
				t.Errorf("next %v, want %v", d.RequeueAt, want)
			}
			if (d.Start != nil) != (test.starts != "") {
				t.Errorf("starts %v", d.Start)
			}
			if diff := cmp.Diff(test.events, reasons(d.Events)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// clock is at, but accepts hours beyond 23 and returns the zero time for "".
func clock(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	d, err := time.ParseDuration(text[:2] + "h" + text[3:5] + "m" + text[6:] + "s")
	if err != nil {
		panic(err)
	}
	return at("00:00:00").Add(d)
}

// kubernetes/kubernetes#63371: a schedule that was changed to an earlier time of the day ran at once.
func TestATimeBeforeTheScheduleWasChangedIsNotDue(t *testing.T) {
	s := hourly(schedule("0 11 * * *"), last("10:00:00"))
	obs := cronjob.Observation{CronJob: s.cj, ScheduleSince: at("12:00:00"), Now: at("12:00:01")}
	if d := cronjob.Decide(obs); d.Start != nil || !d.RequeueAt.Equal(clock("35:00:00")) {
		t.Errorf("starts %v, requeues at %v; want the 11:00 of tomorrow", d.Due, d.RequeueAt)
	}
}

func TestTheJobOfADueTime(t *testing.T) {
	s := hourly(spec(func(s *batchv1.CronJobSpec) {
		s.TimeZone = ptr.To("Asia/Kolkata")
		s.Schedule = "30 * * * *"
		s.JobTemplate.Spec.BackoffLimit = ptr.To[int32](4)
	}))
	want := wrappers.MakeJob("cj-29552280").Namespace("ns").Label("l", "1").Annotation("a", "2").
		Annotation("batch.kubernetes.io/cronjob-scheduled-timestamp", "2026-03-10T15:30:00+05:30").
		OwnerReferences(*metav1.NewControllerRef(s.cj, cronjob.Kind)).BackoffLimit(4).Obj()
	if diff := cmp.Diff(want, s.decide("10:00:02").Start); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDueTimesWithinAMinuteHaveNamesOfTheirOwn(t *testing.T) {
	for _, test := range []struct{ schedule, now, name string }{
		{"@every 30s", "09:30:30", "cj-1773135030"},
		{"@every 30s", "09:31:00", "cj-29552251"},
		{"@every 90s", "09:31:30", "cj-29552251"},
		{"* * * * *", "09:31:30", "cj-29552251"},
	} {
		if got := hourly(schedule(test.schedule)).decide(test.now).Start.Name; got != test.name {
			t.Errorf("%s at %s: %s, want %s", test.schedule, test.now, got, test.name)
		}
	}
}
