package cluster_test

import (
	"strings"
	"syscall"
	"testing"

	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

func TestClusterEachDueTimeHasOneJobWhoeverLeads(t *testing.T) {
	c := kube.Shared(t)
	s := newSchedules(t, c)
	flags := steadyLease("schedules")
	leader := controller(t, c, "", flags...)
	leader.awaitLog(t, "self=true")
	standby := controller(t, c, "", flags...)
	standby.awaitReady(t)

	const runs = 12
	all := func(s *stintv1.ScheduledJobSpec) { s.Schedule.SkipOutdated = ptr.To(false) }
	queue := func(s *stintv1.ScheduledJobSpec) { s.AllowConcurrentRun = ptr.To(false) }
	names := []string{"overlaps", "queues", "skips"}
	past := func(n int) func(*stintv1.ScheduledJobStatus) bool {
		return func(s *stintv1.ScheduledJobStatus) bool { return len(s.CompletedExecutions)+int(s.SkippedCount) >= n }
	}
	s.make(t, newScheduledJob("overlaps", "R12//PT1S", keepAll, all))
	s.make(t, newScheduledJob("queues", "R12//PT1S", keepAll, all, queue))
	s.make(t, newScheduledJob("skips", "R12//PT1S", keepAll, queue))
	for _, name := range names {
		s.awaitStatus(t, name, "to be in the middle", past(2))
	}
	leader.signal(syscall.SIGKILL)
	leader.exit(t)
	s.expire(t, "schedules")
	standby.awaitLog(t, "self=true")
	third := controller(t, c, "", flags...) // only now, as it might have acquired the lease
	third.awaitReady(t)
	for _, name := range names {
		s.awaitStatus(t, name, "to have gone on", past(5))
	}
	standby.signal(syscall.SIGTERM) // it finishes its writes and releases the lease
	if status := standby.exit(t); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	third.awaitLog(t, "self=true")

	for _, name := range names {
		end := s.awaitStatus(t, name, "to end", func(s *stintv1.ScheduledJobStatus) bool {
			return int64(len(s.CompletedExecutions))+s.SkippedCount == runs && s.NextScheduleTime == nil
		})
		if name == "skips" {
			s.once(t, name, end.CompletedExecutions[:1], 1)
		} else {
			s.once(t, name, end.CompletedExecutions, 1)
		}
		ran := len(end.CompletedExecutions)
		if jobs := s.jobsOf(t, name); len(jobs) != ran || end.ScheduleCount != int64(ran) {
			t.Errorf("%s has %d Jobs, counts %d, and completed %d", name, len(jobs), end.ScheduleCount, ran)
		}
	}
}

func TestClusterWhoseKindsComeLater(t *testing.T) {
	c := kube.ForTest(t, kube.Options{})
	t.Run("ScheduledJobs may come later and go", func(t *testing.T) { scheduledJobsComeAndGo(t, c) })
	t.Run("results outlive pods and controller", func(t *testing.T) { resultsOutlivePodsAndController(t, c) })
}

func scheduledJobsComeAndGo(t *testing.T, c *kube.Cluster) {
	p := controller(t, c, "", "--leader-elect=false")
	p.awaitReady(t)
	p.awaitLog(t, "kubectl apply -f deploy/crds/stint.dev_scheduledjobs.yaml")
	s := newSchedules(t, c)
	for i, name := range []string{"first", "again"} {
		if i > 0 {
			if err := c.InstallCRD(t.Context(), scheduledJobsCRD); err != nil {
				t.Fatal(err)
			}
		}
		s.make(t, newScheduledJob(name, "R1//PT1S"))
		s.awaitStatus(t, name, "to run", completed(1))
		s.kubectl(t, "delete", "customresourcedefinition", "scheduledjobs.stint.dev")
		await.Until(t, "stint to miss ScheduledJobs", func() bool {
			return strings.Count(p.log.String(), "does not serve scheduledjobs") == i+2
		})
		s.create(t, newJob("beside-"+name, jobcontroller.ManagedBy))
		s.awaitEnd(t, "beside-"+name)
	}
	p.signal(syscall.SIGTERM)
	if status := p.exit(t); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	if strings.Contains(p.log.String(), "Failed to") {
		t.Error("it logs more than once that there are none")
	}
}
