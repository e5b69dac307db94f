package cluster_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
	"github.com/stint-dev/stint/test/wrappers"
)

// held is the annotation of a Job that the concurrency policy holds.
const held = "stint.dev/held-by-concurrency-policy"

// newCronJob returns a suspended CronJob whose Jobs are managed by Stint.
func newCronJob(name string, change ...func(*batchv1.CronJobSpec)) *batchv1.CronJob {
	c := wrappers.MakeCronJob(name, "* * * * *").Suspend(true).
		JobTemplate(newJob("", jobcontroller.ManagedBy)).Obj()
	for _, f := range change {
		f(&c.Spec)
	}
	return c
}

func (n *node) createCronJob(t *testing.T, c *batchv1.CronJob) {
	t.Helper()
	if _, err := n.BatchV1().CronJobs(n.namespace).Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// due makes a CronJob miss the latest minute and then resumes it, so that a run starts without waiting for the next minute.
func (n *node) due(t *testing.T, name string) {
	t.Helper()
	past := time.Now().Add(-90 * time.Second).UTC().Format(time.RFC3339)
	n.patchCronJob(t, name, fmt.Sprintf(`{"status":{"lastScheduleTime":%q}}`, past), "status")
	n.patchCronJob(t, name, `{"spec":{"suspend":false}}`)
}

func (n *node) patchCronJob(t *testing.T, name, patch string, subresources ...string) {
	t.Helper()
	_, err := n.BatchV1().CronJobs(n.namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	if err != nil {
		t.Fatal(err)
	}
}

// trigger creates a Job as kubectl create job --from=cronjob/NAME does.
func (n *node) trigger(t *testing.T, cronJob, job string) {
	t.Helper()
	from, err := n.BatchV1().CronJobs(n.namespace).Get(t.Context(), cronJob, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := wrappers.MakeJob(job).Annotation("cronjob.kubernetes.io/instantiate", "manual").
		OwnerReferences(*metav1.NewControllerRef(from, batchv1.SchemeGroupVersion.WithKind("CronJob"))).Obj()
	run.Spec = from.Spec.JobTemplate.Spec
	n.create(t, run)
}

func (n *node) awaitCronJob(t *testing.T, name, what string, is func(*batchv1.CronJob) bool) *batchv1.CronJob {
	t.Helper()
	var last *batchv1.CronJob
	defer func() {
		if t.Failed() && last != nil {
			t.Logf("cronjob %s: %+v", name, last.Status)
		}
	}()
	await.Until(t, "cronjob "+name+" "+what, func() bool {
		got, err := n.BatchV1().CronJobs(n.namespace).Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		if err == nil {
			last = got
		}
		return err == nil && is(got)
	})
	return last
}

// ranOnce suspends the CronJob, and checks that each of its Jobs has the name of its minute and had one pod.
func (n *node) ranOnce(t *testing.T, name string) {
	t.Helper()
	n.awaitCronJob(t, name, "to have run", func(c *batchv1.CronJob) bool {
		return c.Status.LastSuccessfulTime != nil && len(c.Status.Active) == 0
	})
	n.patchCronJob(t, name, `{"spec":{"suspend":true}}`)
	list, err := n.BatchV1().Jobs(n.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	jobs := 0
	for _, job := range list.Items {
		if owner := metav1.GetControllerOf(&job); owner == nil || owner.Name != name {
			continue
		}
		jobs++
		at, err := time.Parse(time.RFC3339, job.Annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"])
		if want := fmt.Sprintf("%s-%d", name, at.Unix()/60); err != nil || job.Name != want {
			t.Errorf("a Job of %s is called %s, want %s (%v)", name, job.Name, want, err)
		}
		n.awaitEnd(t, job.Name) // it may have been created just now
		if pods := n.made(job.Name); pods != 1 {
			t.Errorf("job %s had %d pods", job.Name, pods)
		}
	}
	if jobs == 0 {
		t.Errorf("%s has no Job", name)
	}
}

var policies = []batchv1.ConcurrencyPolicy{batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent}

func TestClusterCronJobsRunInPlaceOfKubeControllerManagerAndBesideIt(t *testing.T) {
	c := kube.Shared(t)
	n := newNode(t, c)
	s := controller(t, c, "", "--leader-elect=false", "--controllers=job,cronjob")
	s.awaitReady(t)
	run := func(t *testing.T, prefix string) {
		t.Helper()
		for _, policy := range policies {
			for i := range 4 {
				n.createCronJob(t, newCronJob(cronJobName(prefix, policy, i), func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = policy }))
			}
		}
		for _, policy := range policies {
			for i := range 4 {
				n.due(t, cronJobName(prefix, policy, i))
			}
		}
		for _, policy := range policies {
			for i := range 4 {
				n.ranOnce(t, cronJobName(prefix, policy, i))
			}
		}
	}
	t.Run("in its place", func(t *testing.T) { run(t, "alone") })
	t.Run("beside it", func(t *testing.T) {
		manager, err := c.StartControllerManager("cronjob-controller")
		if err != nil {
			t.Fatal(err)
		}
		defer manager.Kill()
		run(t, "beside")
	})
	if got := s.metrics()["cronjob_controller_job_creation_skew_duration_seconds_count"]; got < 1 {
		t.Errorf("metrics tell of %v Jobs", got)
	}
}

func cronJobName(prefix string, policy batchv1.ConcurrencyPolicy, i int) string {
	short := map[batchv1.ConcurrencyPolicy]string{
		batchv1.AllowConcurrent: "allow", batchv1.ForbidConcurrent: "forbid", batchv1.ReplaceConcurrent: "replace"}
	return fmt.Sprintf("%s-%s-%d", prefix, short[policy], i)
}

func TestClusterRunsOnDemandOfACronJobObeyItsConcurrencyPolicy(t *testing.T) {
	c := kube.Shared(t)
	n := newNode(t, c)
	controller(t, c, "", "--leader-elect=false", "--controllers=*,cronjob").awaitReady(t)
	n.createCronJob(t, newCronJob("forbids", func(s *batchv1.CronJobSpec) { s.ConcurrencyPolicy = batchv1.ForbidConcurrent }))
	n.hold("first", 0)
	n.hold("second", 0) // its pod may be created before the Job is held
	n.trigger(t, "forbids", "first")
	n.awaitCronJob(t, "forbids", "to list the first run", func(c *batchv1.CronJob) bool {
		return len(c.Status.Active) == 1 && c.Status.Active[0].Name == "first"
	})
	n.trigger(t, "forbids", "second")
	n.awaitJob(t, "second", "to be held", func(job *batchv1.Job) bool {
		_, marked := job.Annotations[held]
		return marked && *job.Spec.Suspend && has(job, batchv1.JobSuspended) && job.Status.Active == 0
	})
	n.awaitEvent(t, "forbids", "RunHeld", "second")
	n.letGo(t.Context(), "first")
	n.awaitEvent(t, "forbids", "RunReleased", "second")
	n.letGo(t.Context(), "second")
	n.awaitEnd(t, "second")
	n.awaitCronJob(t, "forbids", "to have run", func(c *batchv1.CronJob) bool {
		return len(c.Status.Active) == 0 && c.Status.LastSuccessfulTime != nil
	})
}
