package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/await"
)

// schedule is one ScheduledJob and what is expected of it.
type schedule struct {
	name   string
	period time.Duration
	// runs bounds the due times; 0 is for ever.
	runs int
	spec stintv1.ScheduledJobSpec
	work string
	// skips is set where runs may be skipped.
	skips bool
}

// schedules returns schedules that are due for about as long as the server is killed. If they were due for ever, a slow
// machine could never catch up.
func schedules() []schedule {
	waits, keep := ptr.To(false), ptr.To(false)
	during := func(period time.Duration) int { return int(time.Duration(*crashKills) * 4 * time.Second / period) }
	return []schedule{
		{name: "each", period: 2 * time.Second, runs: during(2 * time.Second), work: "sleep 0.1"},
		{name: "pair", period: 4 * time.Second, runs: during(4 * time.Second), work: "sleep 0.3",
			spec: stintv1.ScheduledJobSpec{PodCount: ptr.To[int32](2)}},
		{name: "five", period: 3 * time.Second, runs: 5, work: "true"},
		{name: "long", period: 5 * time.Second, runs: during(5 * time.Second), work: "sleep 3"},
		{name: "queue", period: 2 * time.Second, runs: during(2 * time.Second), work: "sleep 1",
			spec: stintv1.ScheduledJobSpec{AllowConcurrentRun: waits}},
		{name: "latest", period: time.Second, runs: during(time.Second), skips: true, work: "sleep 2",
			spec: stintv1.ScheduledJobSpec{AllowConcurrentRun: waits, Schedule: &stintv1.Schedule{SkipOutdated: ptr.To(true)}}},
		{name: "blocks", period: time.Second, skips: true, work: "false",
			spec: stintv1.ScheduledJobSpec{MaxRestart: ptr.To[int32](0), AllowConcurrentRun: waits,
				Schedule: &stintv1.Schedule{BlockOnFailure: ptr.To(true), SkipOutdated: keep}}},
	}
}

func (s schedule) object(l ledger) *stintv1.ScheduledJob {
	spec := *s.spec.DeepCopy()
	if spec.Schedule == nil {
		spec.Schedule = &stintv1.Schedule{SkipOutdated: ptr.To(false)}
	}
	n := ""
	if s.runs > 0 {
		n = fmt.Sprint(s.runs)
	}
	spec.Schedule.TimeSpec = fmt.Sprintf("R%s//PT%dS", n, int(s.period.Seconds()))
	template := l.pods(s.work, stintv1.LabelJobTag)
	spec.Template = &template
	spec.CompletedExecutionsHistoryLimit = ptr.To[int32](1000)
	return &stintv1.ScheduledJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: stintv1.SchemeGroupVersion.String(), Kind: "ScheduledJob"},
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec:       spec,
	}
}

// due returns the due times up to an instant, computed without the code under test.
func (s schedule) due(since, until time.Time) []time.Time {
	var times []time.Time
	for t := since; !t.After(until) && (s.runs == 0 || len(times) < s.runs); t = t.Add(s.period) {
		times = append(times, t)
	}
	return times
}

func TestEveryDueTimeIsMetByExactlyOneRunWhateverKillsTheServer(t *testing.T) {
	eachSeed(t, everyDueTimeIsMet)
}

func everyDueTimeIsMet(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	s := startServer(t)
	dir := t.TempDir()
	ledgers := map[string]ledger{}
	all := schedules()
	for _, schedule := range all {
		ledgers[schedule.name] = newLedger(t, dir, schedule.name)
		s.create(t, scheduledJobs, schedule.object(ledgers[schedule.name]))
	}
	ledgers["asked"], ledgers["cron"] = newLedger(t, dir, "asked"), newLedger(t, dir, "cron")
	asked := schedule{name: "asked", work: "sleep 0.5", spec: stintv1.ScheduledJobSpec{AllowConcurrentRun: ptr.To(false)}}.object(ledgers["asked"])
	asked.Spec.Schedule = nil
	s.create(t, scheduledJobs, asked)
	s.create(t, cronJobs, cronJob(ledgers["cron"]))

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var tags []string
	asking := make(chan error, 1)
	go func() { asking <- s.ask(ctx, t.Context(), &tags) }()
	s.killAgainAndAgain(t, *crashKills, random)
	stop()

	for _, schedule := range all {
		t.Run(schedule.name, func(t *testing.T) { schedule.check(t, s, ledgers[schedule.name]) })
	}
	if err := <-asking; err != nil {
		t.Error(err)
	}
	t.Run("asked", func(t *testing.T) { checkAsked(t, s, ledgers["asked"], tags) })
	t.Run("cron", func(t *testing.T) { checkCron(t, ledgers["cron"]) })
}

// ask asks for a run on demand now and then, as a user does who tries again until there is an answer. It stops when ctx
// ends, or before more runs wait than a slow machine can run.
func (s *server) ask(ctx, testCtx context.Context, tags *[]string) error {
	pause := time.NewTicker(700 * time.Millisecond)
	defer pause.Stop()
	for n := range 5 * *crashKills {
		select {
		case <-ctx.Done():
			return nil
		case <-pause.C:
			tag := fmt.Sprintf("r%d", n)
			if err := s.run(testCtx, "asked", tag); err != nil {
				return err
			}
			*tags = append(*tags, tag)
		}
	}
	return nil
}

func (s schedule) check(t *testing.T, server *server, l ledger) {
	is := isOver
	if s.name == "blocks" {
		is = func(sj *stintv1.ScheduledJob) bool { return len(sj.Status.CompletedExecutions) == 1 }
	}
	sj := server.await(t, s.name, "all that was due to have ended", is)
	due := s.due(sj.CreationTimestamp.Time, sj.Status.LastScheduleTime.Time)
	checkSums(t, sj, len(due))
	byTag := map[string][]entry{}
	for _, e := range l.read(t) {
		byTag[e.tag] = append(byTag[e.tag], e)
	}
	ran := len(byTag)
	for _, at := range due {
		tag := at.UTC().Format("20060102-150405")
		s.checkRun(t, at, byTag[tag])
		delete(byTag, tag)
	}
	for tag := range byTag {
		t.Errorf("run %s was never due", tag)
	}
	if !ptr.Deref(s.spec.AllowConcurrentRun, true) {
		checkAlone(t, l.read(t))
	}
	switch {
	case s.name == "blocks" && ran != 1:
		t.Errorf("%d runs, want the schedule to be blocked by the first", ran)
	case s.runs > 0 && len(due) != s.runs:
		t.Errorf("%d due times, want %d", len(due), s.runs)
	}
}

// checkRun checks that the pods of a run started once each, and not before it was due.
func (s schedule) checkRun(t *testing.T, due time.Time, pods []entry) {
	t.Helper()
	if len(pods) == 0 && s.skips {
		return
	}
	if len(pods) != int(ptr.Deref(s.spec.PodCount, 1)) || len(distinct(pods)) != len(pods) {
		t.Errorf("due at %s: ran as %v, want each of its pods once", due.UTC(), pods)
		return
	}
	if pods[0].start.Before(due) {
		t.Errorf("due at %s: started at %s", due.UTC(), pods[0].start.UTC())
	}
}

// isOver reports whether all due times have been dealt with and all runs have ended.
func isOver(sj *stintv1.ScheduledJob) bool {
	s := sj.Status
	return s.LastScheduleTime != nil && s.NextScheduleTime == nil && len(s.PendingExecutions)+len(s.RunningExecutions) == 0
}

// checkSums checks that the status accounts for every due time.
func checkSums(t *testing.T, sj *stintv1.ScheduledJob, due int) {
	t.Helper()
	s := sj.Status
	if sum := s.ScheduleCount + s.SkippedCount + int64(len(s.PendingExecutions)); sum != int64(due) {
		t.Errorf("%d runs, %d skipped, %d wait: %d in sum, but %d were due", s.ScheduleCount, s.SkippedCount, len(s.PendingExecutions), sum, due)
	}
}

// distinct returns the different indexes of pods.
func distinct(runs []entry) map[string]bool {
	indexes := map[string]bool{}
	for _, e := range runs {
		indexes[e.index] = true
	}
	return indexes
}

// checkAlone checks that no run started before the one before it had ended.
func checkAlone(t *testing.T, entries []entry) {
	t.Helper()
	for i := 1; i < len(entries); i++ {
		if entries[i].start.Before(entries[i-1].end) || entries[i-1].end.IsZero() {
			t.Errorf("run %s started at %v, while %s ran from %v to %v", entries[i].tag, entries[i].start,
				entries[i-1].tag, entries[i-1].start, entries[i-1].end)
		}
	}
}

func checkAsked(t *testing.T, s *server, l ledger, tags []string) {
	s.await(t, "asked", "all runs to have ended", func(sj *stintv1.ScheduledJob) bool {
		return len(sj.Status.CompletedExecutions) == len(tags)
	})
	var ran []string
	for _, e := range l.read(t) {
		ran = append(ran, e.tag)
	}
	if !slices.Equal(ran, tags) {
		t.Errorf("asked for %v, ran %v", tags, ran)
	}
	checkAlone(t, l.read(t))
}

func cronJob(l ledger) *batchv1.CronJob {
	return &batchv1.CronJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "CronJob"},
		ObjectMeta: metav1.ObjectMeta{Name: "cron"},
		Spec: batchv1.CronJobSpec{
			Schedule:                   "@every 3s",
			ConcurrencyPolicy:          batchv1.ForbidConcurrent,
			SuccessfulJobsHistoryLimit: ptr.To[int32](1000),
			JobTemplate:                batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: l.pods("sleep 1", batchv1.JobNameLabel)}},
		},
	}
}

// checkCron checks that the CronJob, which forbids concurrent runs, never ran twice at a time, nor twice for one due
// time. A due time that passed while the server was down needs no run.
func checkCron(t *testing.T, l ledger) {
	await.Until(t, "a run of the CronJob", func() bool { return len(l.read(t)) > 0 })
	entries := l.read(t)
	checkAlone(t, entries)
	byName := map[string]int{}
	for _, e := range entries {
		if byName[e.tag]++; byName[e.tag] > 1 {
			t.Errorf("%s ran twice", e.tag)
		}
	}
	t.Logf("%d runs", len(entries))
}
