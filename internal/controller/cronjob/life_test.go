package cronjob_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	jobcore "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/await"
)

// missed creates a CronJob whose last run was due an hour ago.
func (e *env) missed(name, schedule string, changes ...func(*batchv1.CronJobSpec)) {
	e.t.Helper()
	cj := e.create(newCronJob(name, schedule, changes...)).DeepCopy()
	cj.Status.LastScheduleTime = ptr.To(metav1.NewTime(time.Now().Add(-time.Hour)))
	if _, err := e.client.CronJobs().UpdateStatus(context.Background(), cj); err != nil {
		e.t.Fatal(err)
	}
}

// halfAnHourAgo is a schedule that was due half an hour ago, and will be due in half an hour.
func halfAnHourAgo() string {
	return fmt.Sprintf("%d * * * *", time.Now().UTC().Add(-30*time.Minute).Minute())
}

func TestARunFromItsDueTimeToItsHistory(t *testing.T) {
	registry := prometheus.NewRegistry()
	e := start(t, cronjob.Options{Registerer: registry})
	e.create(newCronJob("c", "@every 1s", policy(batchv1.ForbidConcurrent), func(s *batchv1.CronJobSpec) {
		s.SuccessfulJobsHistoryLimit = ptr.To[int32](0)
	}))
	cj := e.until("c", "a run is active", func(cj *batchv1.CronJob) bool { return len(cj.Status.Active) == 1 })
	first := cj.Status.Active[0].Name
	job, err := e.client.Jobs().Get(t.Context(), e.server.Namespace, first)
	if err != nil {
		t.Fatal(err)
	}
	if want := cj.Status.LastScheduleTime.UTC().Format(time.RFC3339); job.Annotations[batchv1.CronJobScheduledTimestampAnnotation] != want {
		t.Errorf("annotations %v, want %s", job.Annotations, want)
	}
	e.untilEvents("c", "SuccessfulCreate: Created job "+first, "JobAlreadyActive: Not starting job because prior execution is running")
	e.end(first)
	e.untilEvents("c", "SawCompletedJob: Saw completed job: "+first+", condition: Complete", "SuccessfulDelete: Deleted job "+first)
	cj = e.until("c", "the next is active", func(cj *batchv1.CronJob) bool {
		return len(cj.Status.Active) == 1 && cj.Status.Active[0].Name != first
	})
	if cj.Status.LastSuccessfulTime == nil {
		t.Error("no lastSuccessfulTime")
	}
	if n, err := registry.Gather(); err != nil || len(n) != 1 || n[0].GetName() != "cronjob_controller_job_creation_skew_duration_seconds" ||
		n[0].Metric[0].Histogram.GetSampleCount() < 2 {
		t.Errorf("metrics %v, %v", n, err)
	}
}

func TestRunsOnDemandUnderForbidGoOneAfterTheOther(t *testing.T) {
	e := start(t, cronjob.Options{})
	cj := e.create(newCronJob("c", never, policy(batchv1.ForbidConcurrent)))
	for _, name := range []string{"m1", "m2", "m3"} {
		e.createManualRun(cj, name)
	}
	e.untilEvents("c", "RunHeld: Job m2 waits", "RunHeld: Job m3 waits")
	for _, name := range []string{"m1", "m2", "m3"} {
		e.untilActive("c", name)
		e.end(name)
	}
	e.untilActive("c")
	e.untilEvents("c", "RunReleased: Resumed job m2", "RunReleased: Resumed job m3")
}

func TestAHeldRunThatItsCronJobLeftBehindGoesOn(t *testing.T) {
	e := start(t, cronjob.Options{})
	e.stop()
	cj := e.create(newCronJob("c", never, policy(batchv1.ForbidConcurrent)))
	e.createManualRun(cj, "m1")
	e.createManualRun(cj, "m2")
	held, err := e.client.Jobs().Get(t.Context(), e.server.Namespace, "m2")
	if err != nil || !jobcore.IsHeld(held) {
		t.Fatalf("m2 is not held: %v, %v", held, err)
	}
	if _, err = e.client.Jobs().Modify(t.Context(), held, func(j *batchv1.Job) { j.OwnerReferences = nil }); err != nil {
		t.Fatal(err)
	}
	e.run(cronjob.Options{})
	await.Until(e.t, "m2 to go on", func() bool {
		m2, err := e.client.Jobs().Get(context.Background(), e.server.Namespace, "m2")
		return err == nil && !*m2.Spec.Suspend
	}, func() string { return "" })
}

func TestRunsOnDemandUnderReplace(t *testing.T) {
	e := start(t, cronjob.Options{})
	cj := e.create(newCronJob("c", never, policy(batchv1.ReplaceConcurrent)))
	e.createManualRun(cj, "m1")
	e.untilActive("c", "m1")
	await.Until(e.t, "the clock to show another second", func() bool {
		m1, err := e.client.Jobs().Get(context.Background(), e.server.Namespace, "m1")
		return err == nil && time.Now().Truncate(time.Second).After(m1.CreationTimestamp.Time)
	}, func() string { return "" })
	e.createManualRun(cj, "m2")
	e.untilActive("c", "m2")
	e.untilEvents("c", "SuccessfulDelete: Deleted job m1")
	if jobs := e.jobs(); len(jobs) != 1 {
		t.Errorf("%d Jobs, want 1", len(jobs))
	}
}

func TestAControllerThatWasAwayStartsWhatIsDueOnce(t *testing.T) {
	e := start(t, cronjob.Options{})
	e.stop()
	e.missed("c", "* * * * *")
	due := time.Now().Truncate(time.Minute)
	for range 3 {
		e.run(cronjob.Options{})
		e.until("c", "what is due has started", func(cj *batchv1.CronJob) bool { return !cj.Status.LastScheduleTime.Time.Before(due) })
		e.stop()
	}
	seen := map[string]bool{}
	for _, j := range e.jobs() {
		seen[j.Annotations[batchv1.CronJobScheduledTimestampAnnotation]] = true
	}
	// More due times may have come during the test.
	most := 1 + int(time.Since(due)/time.Minute)
	if n := len(e.jobs()); n > most || len(seen) != n {
		t.Errorf("%d Jobs for %d due times", n, len(seen))
	}
}

func TestAScheduleThatIsChangedWhileSuspendedCountsForAllThatWasMissed(t *testing.T) {
	e := start(t, cronjob.Options{})
	e.missed("c", never, func(s *batchv1.CronJobSpec) { s.Suspend = ptr.To(true) })
	e.edit("c", func(s *batchv1.CronJobSpec) { s.Schedule = halfAnHourAgo() })
	e.edit("c", func(s *batchv1.CronJobSpec) { s.Suspend = ptr.To(false) })
	e.until("c", "what was missed has started", func(cj *batchv1.CronJob) bool { return len(cj.Status.Active) == 1 })
}

// kubernetes/kubernetes#63371. The controller runs while the schedule changes.
func TestAScheduleThatIsChangedDoesNotCountForTheTimeBefore(t *testing.T) {
	e := start(t, cronjob.Options{})
	e.missed("c", never)
	cj := e.edit("c", func(s *batchv1.CronJobSpec) { s.Schedule = halfAnHourAgo() })
	e.createManualRun(cj, "m") // The controller observes it after the change.
	cj = e.until("c", "the run on demand is active", func(cj *batchv1.CronJob) bool { return len(cj.Status.Active) > 0 })
	if len(e.jobs()) != 1 {
		t.Errorf("%d Jobs, want the one by hand; status %+v", len(e.jobs()), cj.Status)
	}
}

func TestARunThatWasReplacedIsNotMissed(t *testing.T) {
	e := prepare(t)
	e.client = deletesLate{e.client}
	e.run(cronjob.Options{})
	cj := e.create(newCronJob("c", never, policy(batchv1.ReplaceConcurrent)))
	e.createManualRun(cj, "m1")
	e.untilActive("c", "m1")
	e.createManualRun(cj, "m2")
	e.untilActive("c", "m2")
	e.end("m2")
	e.untilEvents("c", "SuccessfulDelete: Deleted job m1", "SawCompletedJob: Saw completed job: m2")
	if events := e.eventsOf("c"); slices.ContainsFunc(events, func(s string) bool { return strings.HasPrefix(s, "MissingJob") }) {
		t.Errorf("events %q", events)
	}
}

// deletesLate is a client whose deletion of a Job returns only when the informer no longer has the Job.
type deletesLate struct{ client.Interface }

func (c deletesLate) Jobs() client.Resource[*batchv1.Job] { return jobsLate{c.Interface.Jobs()} }

type jobsLate struct{ client.Resource[*batchv1.Job] }

func (r jobsLate) Delete(ctx context.Context, job *batchv1.Job, o client.DeleteOptions) error {
	if err := r.Resource.Delete(ctx, job, o); err != nil {
		return err
	}
	return await.Poll(ctx, func(context.Context) (bool, error) {
		_, shown, err := r.Informer().GetStore().GetByKey(job.Namespace + "/" + job.Name)
		return !shown, err
	})
}
