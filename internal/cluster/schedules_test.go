package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/client/remote"
	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

const scheduledJobsCRD = "../../deploy/crds/stint.dev_scheduledjobs.yaml"

// schedules is a node with a client of ScheduledJobs.
type schedules struct {
	*node
	client.Resource[*stintv1.ScheduledJob]
	cluster *kube.Cluster
}

// newSchedules installs the CRD.
func newSchedules(t *testing.T, c *kube.Cluster) *schedules {
	t.Helper()
	if err := c.InstallCRD(t.Context(), scheduledJobsCRD); err != nil {
		t.Fatal(err)
	}
	people, err := remote.New(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &schedules{newNode(t, c), people.ScheduledJobs(), c}
}

// newScheduledJob returns a ScheduledJob whose runs are managed by Stint. It has no schedule if timeSpec is empty.
func newScheduledJob(name, timeSpec string, change ...func(*stintv1.ScheduledJobSpec)) *stintv1.ScheduledJob {
	s := &stintv1.ScheduledJob{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: stintv1.ScheduledJobSpec{
			ManagedBy: ptr.To(jobcontroller.ManagedBy),
			Template:  ptr.To(newJob(name, "").Spec.Template),
		},
	}
	if timeSpec != "" {
		s.Spec.Schedule = &stintv1.Schedule{TimeSpec: timeSpec}
	}
	for _, c := range change {
		c(&s.Spec)
	}
	return s
}

func keepAll(s *stintv1.ScheduledJobSpec) {
	s.SuccessfulJobsHistoryLimit, s.FailedJobsHistoryLimit = ptr.To[int32](1000), ptr.To[int32](1000)
}

func runsFail(s *stintv1.ScheduledJobSpec) {
	s.MaxRestart = ptr.To[int32](0)
	s.Template.Labels["fate"] = "fail"
}

func (s *schedules) make(t *testing.T, obj *stintv1.ScheduledJob) {
	t.Helper()
	obj.Namespace = s.namespace
	if _, err := s.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// awaitStatus waits for a state of a ScheduledJob and returns it.
func (s *schedules) awaitStatus(t *testing.T, name, what string, is func(*stintv1.ScheduledJobStatus) bool) (last stintv1.ScheduledJobStatus) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("scheduledjob %s: %+v", name, last)
		}
	}()
	await.Until(t, "scheduledjob "+name+" "+what, func() bool {
		got, err := s.Get(t.Context(), s.namespace, name)
		if err != nil {
			return false // Some tests stop the API server or remove the CRD.
		}
		last = got.Status
		return is(&last)
	})
	return last
}

func completed(runs int) func(*stintv1.ScheduledJobStatus) bool {
	return func(s *stintv1.ScheduledJobStatus) bool { return len(s.CompletedExecutions) == runs }
}

func blocked(s *stintv1.ScheduledJobStatus) bool {
	return slices.ContainsFunc(s.Conditions, func(c metav1.Condition) bool {
		return c.Type == stintv1.ConditionBlocked && c.Status == metav1.ConditionTrue
	})
}

// kubectl runs a command of the documentation, with the kubectl that is built into stint.
func (s *schedules) kubectl(t *testing.T, args ...string) {
	t.Helper()
	kubeconfig, err := s.cluster.Kubeconfig("")
	if err != nil {
		t.Fatal(err)
	}
	out, err := stintCommand(append(args, "--kubeconfig", kubeconfig, "-n", s.namespace)...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// jobsOf returns the existing Jobs of a ScheduledJob by tag.
func (s *schedules) jobsOf(t *testing.T, name string) map[string]batchv1.Job {
	t.Helper()
	list, err := s.BatchV1().Jobs(s.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: stintv1.LabelJobName + "=" + name})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]batchv1.Job{}
	for _, job := range list.Items {
		out[job.Labels[stintv1.LabelJobTag]] = job
	}
	if len(out) != len(list.Items) {
		t.Errorf("%d Jobs for %d runs", len(list.Items), len(out))
	}
	return out
}

// once checks that each run had one Job of one pod, and that the due times are this many seconds apart.
func (s *schedules) once(t *testing.T, name string, runs []stintv1.Execution, seconds int64) {
	t.Helper()
	// Concurrent runs may finish in any order.
	runs = slices.SortedFunc(slices.Values(runs), func(a, b stintv1.Execution) int { return strings.Compare(a.Tag, b.Tag) })
	for i, run := range runs {
		job := name + "-" + run.Tag
		if run.JobName != job || s.made(job) != 1 || !ptr.Deref(run.Success, false) || run.Trigger != stintv1.TriggerSchedule {
			t.Errorf("run %d of Job %s with %d pods: %+v", i, job, s.made(job), run)
		}
		if i > 0 && run.DueAt.Unix() != runs[i-1].DueAt.Unix()+seconds {
			t.Errorf("run %d was due at %s, the one before at %s", i, run.DueAt, runs[i-1].DueAt)
		}
	}
}

func TestClusterRunsAScheduledJob(t *testing.T) {
	c := kube.Shared(t)
	s := newSchedules(t, c)
	p := controller(t, c, "", "--leader-elect=false")
	p.awaitReady(t)

	all := func(s *stintv1.ScheduledJobSpec) { s.Schedule.SkipOutdated = ptr.To(false) }
	s.make(t, newScheduledJob("three", "R3//PT2S", keepAll, all))
	end := s.awaitStatus(t, "three", "to run three times", completed(3))
	s.once(t, "three", end.CompletedExecutions, 2)
	if end.ScheduleCount != 3 || end.SkippedCount != 0 || end.NextScheduleTime != nil || len(s.jobsOf(t, "three")) != 3 {
		t.Errorf("%d Jobs, status %+v", len(s.jobsOf(t, "three")), end)
	}
	s.awaitEvent(t, "three", "SuccessfulCreate", "Created job three-"+end.CompletedExecutions[0].Tag)

	t.Run("on demand, in the order in which they were asked for", func(t *testing.T) {
		s.make(t, newScheduledJob("demand", "", func(s *stintv1.ScheduledJobSpec) { s.AllowConcurrentRun = ptr.To(false) }))
		s.awaitStatus(t, "demand", "to have a status that can be patched", func(s *stintv1.ScheduledJobStatus) bool { return s.ObservedGeneration > 0 })
		s.hold("demand-first", 0)
		s.kubectl(t, "patch", "scheduledjob", "demand", "--subresource=status", "--type=json", "-p", firstPending("first"))
		s.awaitStatus(t, "demand", "to run", func(s *stintv1.ScheduledJobStatus) bool { return len(s.RunningExecutions) == 1 })
		s.kubectl(t, "patch", "scheduledjob", "demand", "--subresource=status", "--type=json", "-p", firstPending("second"))
		s.kubectl(t, "patch", "scheduledjob", "demand", "--subresource=status", "--type=json", "-p", morePending("third"))
		s.letGo(t.Context(), "demand-first")
		end := s.awaitStatus(t, "demand", "to run three times", completed(3))
		var tags []string
		for _, run := range end.CompletedExecutions {
			tags = append(tags, run.Tag)
		}
		if got := strings.Join(tags, " "); got != "first second third" {
			t.Errorf("it ran %s", got)
		}
	})
	t.Run("blocked by a failure, until a person clears it", func(t *testing.T) {
		s.make(t, newScheduledJob("blocks", "R//PT1S", runsFail, keepAll, func(s *stintv1.ScheduledJobSpec) {
			s.Schedule.BlockOnFailure, s.AllowConcurrentRun = ptr.To(true), ptr.To(false)
		}))
		for runs := 1; runs <= 2; runs++ {
			last := s.awaitStatus(t, "blocks", "to be blocked", func(s *stintv1.ScheduledJobStatus) bool {
				return blocked(s) && len(s.CompletedExecutions) == runs && len(s.PendingExecutions) == 1
			})
			if jobs := s.jobsOf(t, "blocks"); len(jobs) != runs {
				t.Errorf("%d Jobs after %d runs: %+v", len(jobs), runs, last)
			}
			s.kubectl(t, "patch", "scheduledjob", "blocks", "--subresource=status", "--type=merge", "-p", `{"status":{"conditions":[]}}`)
		}
		s.awaitEvent(t, "blocks", "Resumed", "")
	})
	t.Run("its pods come from a PodTemplate that is made later", func(t *testing.T) {
		s.make(t, newScheduledJob("refers", "R1//PT1S", func(s *stintv1.ScheduledJobSpec) {
			s.TemplateRef, s.Template = &corev1.LocalObjectReference{Name: "pods"}, nil
		}))
		s.awaitStatus(t, "refers", "to miss it", func(s *stintv1.ScheduledJobStatus) bool {
			return len(s.PendingExecutions) == 1 && s.PendingExecutions[0].Reason == "TemplateNotFound"
		})
		s.makeTemplate(t, "pods")
		s.awaitStatus(t, "refers", "to run", completed(1))
	})
	if got := p.metrics()["stint_scheduledjob_runs_started_total"]; got < 9 {
		t.Errorf("metrics tell of %v runs", got)
	}
}

// firstPending and morePending return patches that fail rather than overwrite a pending run.
func firstPending(tag string) string {
	return fmt.Sprintf(`[{"op":"test","path":"/status/pendingExecutions","value":null},`+
		`{"op":"add","path":"/status/pendingExecutions","value":[{"tag":%q}]}]`, tag)
}

func morePending(tag string) string {
	return fmt.Sprintf(`[{"op":"add","path":"/status/pendingExecutions/-","value":{"tag":%q}}]`, tag)
}

func (s *schedules) makeTemplate(t *testing.T, name string) {
	t.Helper()
	pods := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Name: name}, Template: newJob(name, "").Spec.Template}
	if _, err := s.CoreV1().PodTemplates(s.namespace).Create(t.Context(), pods, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
