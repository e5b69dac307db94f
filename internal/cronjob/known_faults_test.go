package cronjob_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cronjob"
	zones "github.com/stint-dev/stint/internal/schedule"
)

// Faults that other CronJob controllers have had. docs/jobs.md lists them with their issue numbers.

// kubernetes/kubernetes#36311: after more than a hundred missed times, here a week of them in a suspension, a CronJob
// never started again.
func TestACronJobThatWasSuspendedForLongGoesOn(t *testing.T) {
	s := hourly(schedule("* * * * *"), last("09:40:00"))
	week := at("09:40:30").AddDate(0, 0, 7)
	d := cronjob.Decide(cronjob.Observation{CronJob: s.cj, Now: week})
	if d.Start == nil || !d.Due.Equal(week.Truncate(time.Minute)) {
		t.Errorf("starts %v of %v, want the run of %v", d.Start, d.Due, week.Truncate(time.Minute))
	}
	if next := week.Truncate(time.Minute).Add(time.Minute); !d.RequeueAt.Equal(next) {
		t.Errorf("requeues at %v, want %v", d.RequeueAt, next)
	}
}

// kubernetes/kubernetes#119137: the controller took the times of "30 6-16/4 * * 1-5" for equally far apart. It miscounted
// missed times and computed a requeue time in the past, so it requeued at once, for ever.
func TestASchedulesTimesAreNotEquallyFarApart(t *testing.T) {
	isDue := func(now time.Time) bool {
		return now.Minute() == 30 && (now.Hour() == 6 || now.Hour() == 10 || now.Hour() == 14) &&
			now.Weekday() != time.Saturday && now.Weekday() != time.Sunday
	}
	monday := at("00:00:00").AddDate(0, 0, -1) // at returns times of a Tuesday.
	s := hourly(schedule("30 6-16/4 * * 1-5"), policy(batchv1.ForbidConcurrent))
	s.cj.CreationTimestamp = metav1.NewTime(monday)
	var due time.Time
	for now := monday.Add(time.Minute); now.Before(monday.AddDate(0, 0, 21)); now = now.Add(time.Minute) {
		if isDue(now) {
			due = now
		}
		if now.Minute() != 30 && now.Minute() != 31 {
			continue
		}
		// Once as if no run had started yet, and once as if all before this minute had.
		for _, last := range []*metav1.Time{nil, ptr.To(metav1.NewTime(now.Add(-time.Minute)))} {
			s.cj.Status.LastScheduleTime = last
			d := cronjob.Decide(cronjob.Observation{CronJob: s.cj, Now: now})
			want := due
			if last != nil && !due.After(last.Time) {
				want = time.Time{}
			}
			if !d.Due.Equal(want) {
				t.Fatalf("at %v: due %v, want %v", now, d.Due, want)
			}
			if !d.RequeueAt.After(now) || !isDue(d.RequeueAt) {
				t.Fatalf("at %v: requeues at %v", now, d.RequeueAt)
			}
		}
	}
}

// kubernetes/kubernetes#121594: a daily run at two o'clock started twice when the clocks were set back. It does so here,
// too: cron uses wall-clock time. Each due time has its own Job, and under Forbid the second does not start while the
// first runs.
func TestATimeThatClocksShowTwiceHasTwoRuns(t *testing.T) {
	berlin, err := zones.LoadZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	first := time.Date(2023, 10, 29, 0, 0, 0, 0, time.UTC) // 02:00 in summer time
	s := hourly(schedule("0 2 * * *"), spec(func(s *batchv1.CronJobSpec) { s.TimeZone = ptr.To("Europe/Berlin") }))
	s.cj.CreationTimestamp = metav1.NewTime(first.AddDate(0, 0, -1))
	decide := func(now time.Time) cronjob.Decision {
		return cronjob.Decide(cronjob.Observation{CronJob: s.cj, Jobs: s.jobs, Now: now})
	}
	one := decide(first).Start
	s.cj.Status.LastScheduleTime = ptr.To(metav1.NewTime(first))
	two := decide(first.Add(time.Hour)).Start
	if one == nil || two == nil || one.Name == two.Name {
		t.Fatalf("starts %v and %v, want two Jobs", one, two)
	}
	if next := decide(first.Add(time.Hour)).RequeueAt.In(berlin); next.Day() != 30 || next.Hour() != 2 {
		t.Errorf("the next is at %v", next)
	}
	has(one, listed)(s)
	s.cj.Spec.ConcurrencyPolicy = batchv1.ForbidConcurrent
	if d := decide(first.Add(time.Hour)); d.Start != nil {
		t.Errorf("%s starts while %s runs", d.Start.Name, one.Name)
	}
}

// kubernetes/kubernetes#121763: on the morning after the clocks had been set back, all CronJobs started at once, hours
// before they were due.
func TestNoRunStartsBecauseClocksAreSet(t *testing.T) {
	chicago, err := zones.LoadZone("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	for name, days := range map[string][2]int{"back, in November": {11, 5}, "forward, in March": {3, 12}} {
		for hour := range 24 {
			t.Run(fmt.Sprintf("%s, a run at %d:05", name, hour), func(t *testing.T) {
				s := hourly(schedule(fmt.Sprintf("5 %d * * *", hour)), spec(func(s *batchv1.CronJobSpec) { s.TimeZone = ptr.To("America/Chicago") }))
				now := time.Date(2023, time.Month(days[0]), days[1]-1, 0, 0, 0, 0, chicago)
				s.cj.CreationTimestamp = metav1.NewTime(now.AddDate(0, 0, -30))
				s.cj.Status.LastScheduleTime = ptr.To(metav1.NewTime(now))
				runs := 0
				for end := now.AddDate(0, 0, 4); now.Before(end); now = now.Add(time.Minute) {
					d := cronjob.Decide(cronjob.Observation{CronJob: s.cj, Now: now})
					if d.Start == nil {
						continue
					}
					if shown := now.In(chicago); shown.Hour() != hour || shown.Minute() != 5 {
						t.Fatalf("starts at %v", shown)
					}
					s.cj.Status.LastScheduleTime = ptr.To(metav1.NewTime(d.Due))
					runs++
				}
				if runs < 3 || runs > 5 { // One hour does not exist in March, and one comes twice in November.
					t.Errorf("%d runs in four days", runs)
				}
			})
		}
	}
}

// The clock of the machine itself may be set, too (again kubernetes/kubernetes#121763): no time becomes due twice, and of
// the times that were jumped over the latest is due.
func TestAMachineWhoseClockIsSetRunsNothingTwice(t *testing.T) {
	for jump, starts := range map[time.Duration]bool{-24 * time.Hour: false, -time.Hour: false, time.Hour: true, 24 * time.Hour: true} {
		s := hourly(last("15:00:00"))
		now := at("15:00:30").Add(jump)
		d := cronjob.Decide(cronjob.Observation{CronJob: s.cj, Now: now})
		if (d.Start != nil) != starts || starts && !d.Due.Equal(now.Truncate(time.Hour)) {
			t.Errorf("%v: starts %v", jump, d.Due)
		}
		if !d.RequeueAt.After(at("15:00:00")) {
			t.Errorf("%v: requeues at %v", jump, d.RequeueAt)
		}
	}
}
