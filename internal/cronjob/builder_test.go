package cronjob_test

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cronjob"
	"github.com/stint-dev/stint/test/wrappers"
)

// at is a time of 10 March 2026, in UTC.
func at(clock string) time.Time {
	t, err := time.Parse("15:04:05", clock)
	if err != nil {
		panic(err)
	}
	return t.AddDate(2026, 2, 9)
}

// situation is an observation under construction.
type situation struct {
	cj      *batchv1.CronJob
	jobs    []*batchv1.Job
	deleted map[types.UID]bool
}

// hourly is a CronJob that was created at 09:30.
func hourly(changes ...func(*situation)) *situation {
	s := &situation{cj: wrappers.MakeCronJob("cj", "0 * * * *").Namespace("ns").UID("cj-uid").CreationTimestamp(metav1.NewTime(at("09:30:00"))).
		ConcurrencyPolicy(batchv1.AllowConcurrent).HistoryLimits(3, 1).
		JobTemplate(wrappers.MakeJob("").Label("l", "1").Annotation("a", "2").Obj()).Obj()}
	for _, change := range changes {
		change(s)
	}
	return s
}

func spec(change func(*batchv1.CronJobSpec)) func(*situation) {
	return func(s *situation) { change(&s.cj.Spec) }
}

func policy(p batchv1.ConcurrencyPolicy) func(*situation) {
	return spec(func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = p })
}

func schedule(text string) func(*situation) {
	return spec(func(s *batchv1.CronJobSpec) { s.Schedule = text })
}

func deadline(seconds int64) func(*situation) {
	return spec(func(s *batchv1.CronJobSpec) { s.StartingDeadlineSeconds = &seconds })
}

func last(clock string) func(*situation) {
	return func(s *situation) { s.cj.Status.LastScheduleTime = ptr.To(metav1.NewTime(at(clock))) }
}

// has adds a Job; the first change names it.
func has(j *batchv1.Job, changes ...func(*situation, *batchv1.Job)) func(*situation) {
	return func(s *situation) {
		j.Namespace, j.UID = "ns", types.UID(j.Name)
		for _, change := range changes {
			change(s, j)
		}
		s.jobs = append(s.jobs, j)
	}
}

func named(name string) *batchv1.Job { return wrappers.MakeJob(name).Obj() }

// runOf is the Job that the controller creates for a due time.
func runOf(clock string) *batchv1.Job {
	s := hourly(schedule("* * * * *"), last("00:00:00"))
	s.cj.CreationTimestamp = metav1.NewTime(at(clock).Add(-time.Minute))
	j := s.decide(clock).Start
	j.CreationTimestamp = metav1.NewTime(at(clock))
	return j
}

func manualRun(name, clock string) *batchv1.Job {
	return wrappers.MakeJob(name).CreationTimestamp(metav1.NewTime(at(clock))).
		Annotation("cronjob.kubernetes.io/instantiate", "manual").Obj()
}

// listed adds the run to status.active, and moves lastScheduleTime on to its due time.
func listed(s *situation, j *batchv1.Job) {
	due := dueOf(j)
	if now := s.cj.Status.LastScheduleTime; !due.IsZero() && (now == nil || now.Time.Before(due)) {
		s.cj.Status.LastScheduleTime = ptr.To(metav1.NewTime(due))
	}
	s.cj.Status.Active = append(s.cj.Status.Active, corev1.ObjectReference{Name: j.Name, UID: j.UID})
}

func held(_ *situation, j *batchv1.Job) { cronjob.SuspendRun(j, j.CreationTimestamp.Time) }

func beingDeleted(_ *situation, j *batchv1.Job) {
	j.DeletionTimestamp = ptr.To(metav1.NewTime(at("09:31:00")))
}

func ended(how batchv1.JobConditionType, start, end string) func(*situation, *batchv1.Job) {
	return func(_ *situation, j *batchv1.Job) {
		w := wrappers.FromJob(j).StartTime(metav1.NewTime(at(start))).Condition(how, "")
		if how == batchv1.JobComplete {
			w.CompletionTime(metav1.NewTime(at(end)))
		}
	}
}

func (s *situation) decide(clock string) cronjob.Decision {
	return cronjob.Decide(cronjob.Observation{CronJob: s.cj, Jobs: s.jobs, Deleted: s.deleted, Now: at(clock)})
}

func names(jobs []*batchv1.Job) (all []string) {
	for _, j := range jobs {
		all = append(all, j.Name)
	}
	return all
}

func active(s batchv1.CronJobStatus) (all []string) {
	for _, r := range s.Active {
		all = append(all, r.Name)
	}
	return all
}

func reasons(events []cronjob.Event) (all []string) {
	for _, e := range events {
		all = append(all, e.Reason)
	}
	return all
}
