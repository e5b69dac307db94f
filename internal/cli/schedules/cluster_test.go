package schedules

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/test/kube"
	"github.com/stint-dev/stint/test/wrappers"
)

// A cluster does not serve …/run: a run is requested in the status. No controller runs here that would start it.
func TestClusterSchedules(t *testing.T) {
	c := kube.ForTest(t, kube.Options{})
	clients, err := NewClients(&target.Target{Kind: target.Cluster, Config: c.Config(), Namespace: "default"}, rest.NoWarnings{})
	if err != nil {
		t.Fatal(err)
	}
	both := []Kind{CronJob, ScheduledJob}
	if _, err := clients.Find(t.Context(), "report", both...); !errors.As(err, new(InputError)) {
		t.Fatalf("without our kind being there: %v", err)
	}
	if err := c.InstallCRD(t.Context(), "../../../deploy/crds/stint.dev_scheduledjobs.yaml"); err != nil {
		t.Fatal(err)
	}
	create(t, clients, "report")
	owner, err := clients.Find(t.Context(), "report", both...)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a run is added to the pending ones", func(t *testing.T) { addsARun(t, clients, owner) })
	t.Run("runs that are asked for at the same time are all listed", func(t *testing.T) { addsManyRuns(t, clients) })
	t.Run("what cannot run is bad input", func(t *testing.T) {
		request := Request{Tag: "side", Overrides: &stintv1.Overrides{Container: "side", Args: []string{"a"}}}
		if _, err := clients.Trigger(t.Context(), owner, request); !errors.As(err, new(InputError)) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("suspended, blocked and resumed", func(t *testing.T) { pauses(t, clients) })
	t.Run("a run of a CronJob is a Job", func(t *testing.T) { runsACronJob(t, clients) })
	t.Run("both kinds have names to offer", func(t *testing.T) {
		if diff := cmp.Diff([]string{"nightly", "report"}, clients.Names(t.Context(), both...)); diff != "" {
			t.Error(diff)
		}
	})
}

func create(t *testing.T, c *Clients, name string) {
	t.Helper()
	scheduled := wrappers.MakeScheduledJob(name).Containers("main").Args("as written").Obj()
	scheduled.APIVersion, scheduled.Kind = stintv1.SchemeGroupVersion.String(), "ScheduledJob"
	if err := c.stint.Post().Namespace(c.namespace).Resource(scheduledJobs).Body(scheduled).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
}

func addsARun(t *testing.T, c *Clients, owner metav1.Object) {
	request := Request{Tag: "march", Overrides: &stintv1.Overrides{Env: []corev1.EnvVar{{Name: "A", Value: "1"}}}}
	for range 2 {
		run, err := c.Trigger(t.Context(), owner, request)
		if err != nil {
			t.Fatal(err)
		}
		want := Run{Namespace: "default", Kind: ScheduledJob, Name: "report", Tag: "march", Job: "report-march"}
		if diff := cmp.Diff(want, run, cmp.AllowUnexported(Run{})); diff != "" {
			t.Error(diff)
		}
	}
	scheduled, err := c.scheduledJob(t.Context(), "report")
	if err != nil {
		t.Fatal(err)
	}
	pending := scheduled.Status.PendingExecutions
	if len(pending) != 1 {
		t.Fatalf("asked twice, listed %d times", len(pending))
	}
	pending[0].CreatedAt = nil
	want := stintv1.Execution{Tag: "march", Trigger: stintv1.TriggerManual, Status: stintv1.ExecutionPending,
		Overrides: request.Overrides}
	if diff := cmp.Diff(want, pending[0]); diff != "" {
		t.Error(diff)
	}
	if _, err := c.Trigger(t.Context(), owner, Request{Tag: "march"}); !errors.As(err, new(InputError)) {
		t.Errorf("another run of that tag: %v", err)
	}
}

func addsManyRuns(t *testing.T, c *Clients) {
	create(t, c, "busy")
	owner, err := c.Find(t.Context(), "busy", ScheduledJob)
	if err != nil {
		t.Fatal(err)
	}
	defer c.stint.Delete().Namespace(c.namespace).Resource(scheduledJobs).Name("busy").Do(t.Context())
	var all sync.WaitGroup
	var want []string
	for i := range 8 {
		tag := fmt.Sprintf("run-%d", i)
		want = append(want, tag)
		all.Go(func() {
			if _, err := c.Trigger(t.Context(), owner, Request{Tag: tag}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	scheduled, err := c.scheduledJob(t.Context(), "busy")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range scheduled.Status.PendingExecutions {
		got = append(got, e.Tag)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func pauses(t *testing.T, c *Clients) {
	act := func(do func(*testing.T, metav1.Object) (string, error), want string) *stintv1.ScheduledJob {
		t.Helper()
		object, err := c.Find(t.Context(), "sj/report", ScheduledJob)
		if err != nil {
			t.Fatal(err)
		}
		got, err := do(t, object)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		scheduled, err := c.scheduledJob(t.Context(), "report")
		if err != nil {
			t.Fatal(err)
		}
		return scheduled
	}
	suspend := func(t *testing.T, o metav1.Object) (string, error) { return c.Suspend(t.Context(), o) }
	resume := func(t *testing.T, o metav1.Object) (string, error) { return c.Resume(t.Context(), o) }

	scheduled := act(suspend, "scheduledjob report suspended")
	if !ptr.Deref(scheduled.Spec.Suspend, false) {
		t.Error("it is not suspended")
	}
	meta.SetStatusCondition(&scheduled.Status.Conditions, metav1.Condition{Type: stintv1.ConditionBlocked,
		Status: metav1.ConditionTrue, Reason: "RunFailed", Message: "run march failed"})
	if err := c.updateStatus(t.Context(), scheduled); err != nil {
		t.Fatal(err)
	}
	scheduled = act(resume, "scheduledjob report resumed\nscheduledjob report is no longer blocked (run march failed)")
	if ptr.Deref(scheduled.Spec.Suspend, false) || !meta.IsStatusConditionFalse(scheduled.Status.Conditions, stintv1.ConditionBlocked) {
		t.Errorf("suspended %v, conditions %v", scheduled.Spec.Suspend, scheduled.Status.Conditions)
	}
	if len(scheduled.Status.PendingExecutions) != 1 {
		t.Error("the pending run is lost")
	}
	act(resume, "scheduledjob report is not suspended")
}

func runsACronJob(t *testing.T, c *Clients) {
	cronJob := wrappers.MakeCronJob("nightly", "@yearly").
		JobTemplate(wrappers.MakeJob("").Label("app", "a").Annotation("team", "b").Containers("main").Args("as written").Obj()).Obj()
	owner, err := c.batch.CronJobs("default").Create(t.Context(), cronJob, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	request := Request{Tag: "now", Overrides: &stintv1.Overrides{Args: []string{"other"}}}
	for _, again := range []bool{false, true} {
		run, err := c.Trigger(t.Context(), owner, request)
		if err != nil {
			t.Fatal(err)
		}
		want := Run{Namespace: "default", Kind: CronJob, Name: "nightly", Tag: "now", Job: "nightly-now", Again: again, job: run.job}
		if diff := cmp.Diff(want, run, cmp.AllowUnexported(Run{})); diff != "" {
			t.Error(diff)
		}
	}
	job, err := c.batch.Jobs("default").Get(t.Context(), "nightly-now", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !metav1.IsControlledBy(job, owner) || job.Labels["app"] != "a" ||
		job.Annotations["team"] != "b" || job.Annotations[instantiate] != "manual" {
		t.Errorf("metadata %v", job.ObjectMeta)
	}
	if diff := cmp.Diff([]string{"other"}, job.Spec.Template.Spec.Containers[0].Args); diff != "" {
		t.Error(diff)
	}
	foreign := wrappers.MakeJob("nightly-foreign").Obj()
	if _, err := c.batch.Jobs("default").Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Trigger(t.Context(), owner, Request{Tag: "foreign"}); !errors.As(err, new(InputError)) {
		t.Errorf("a Job of that name that is somebody else's: %v", err)
	}
}
