package cluster_test

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/kube"
)

func TestMetricsTellWhatHappened(t *testing.T) {
	c := kube.ForTest(t, kube.Options{})
	n := newNode(t, c)
	s := controller(t, c, "", quickLease("metrics")...)
	s.awaitReady(t)
	n.create(t, newJob("foreign", "example.com/other"))
	n.create(t, newJob("whole", jobcontroller.ManagedBy, size(7, 3)))
	n.create(t, newJob("fails", jobcontroller.ManagedBy, failing))
	n.create(t, newJob("indexed", jobcontroller.ManagedBy, size(4, 4), func(s *batchv1.JobSpec) {
		s.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	}))
	n.create(t, newJob("policy", jobcontroller.ManagedBy, failing, func(s *batchv1.JobSpec) {
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}},
		}}}
	}))
	for _, name := range []string{"whole", "fails", "indexed", "policy"} {
		n.awaitEnd(t, name)
	}
	for series, want := range map[string]float64{
		`job_controller_jobs_finished_total{completion_mode="NonIndexed",reason="CompletionsReached",result="succeeded"}`: 1,
		`job_controller_jobs_finished_total{completion_mode="Indexed",reason="CompletionsReached",result="succeeded"}`:    1,
		`job_controller_jobs_finished_total{completion_mode="NonIndexed",reason="BackoffLimitExceeded",result="failed"}`:  1,
		`job_controller_jobs_finished_total{completion_mode="NonIndexed",reason="PodFailurePolicy",result="failed"}`:      1,
		`job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"}`:                         7,
		`job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="failed"}`:                            2,
		`job_controller_job_pods_finished_total{completion_mode="Indexed",result="succeeded"}`:                            4,
		`job_controller_job_pods_creation_total{reason="new",status="succeeded"}`:                                         13,
		`job_controller_job_finished_indexes_total{backoffLimit="global",status="succeeded"}`:                             4,
		`job_controller_pod_failures_handled_by_failure_policy_total{action="FailJob"}`:                                   1,
		`job_controller_terminated_pods_tracking_finalizer_total{event="add"}`:                                            13,
		`job_controller_terminated_pods_tracking_finalizer_total{event="delete"}`:                                         13,
		`job_controller_jobs_by_external_controller_total{controller_name="example.com/other"}`:                           1,
		`leader_election_master_status{name="metrics"}`:                                                                   1,
		`workqueue_depth{name="job"}`: 0,
	} {
		// What follows the last status is counted a moment later.
		var got float64
		await(t, fmt.Sprintf("%s to be %v", series, want), func(context.Context) (bool, error) {
			got = s.metrics(t)[series]
			if got > want && want > 0 {
				return false, fmt.Errorf("it is %v", got)
			}
			return got == want, nil
		})
	}
	for _, name := range []string{
		`workqueue_adds_total{name="job"}`,
		`rest_client_requests_total{code="201",host="` + c.Config().Host + `",method="POST"}`,
		`job_controller_job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="success"}`,
		`job_controller_job_sync_duration_seconds_count{action="pods_created",completion_mode="NonIndexed",result="success"}`,
		"process_cpu_seconds_total", "go_goroutines",
		`stint_build_info{go_version="` + runtime.Version() + `",version="dev"}`,
	} {
		if s.metrics(t)[name] == 0 {
			t.Errorf("%s is not there", name)
		}
	}
}

// metrics reads all series, each by its name and labels as they stand there.
func (s *stint) metrics(t *testing.T) map[string]float64 {
	t.Helper()
	_, body := s.get("/metrics")
	values := map[string]float64{}
	for line := range strings.Lines(body) {
		end := strings.LastIndex(line, " ")
		if strings.HasPrefix(line, "#") || end < 0 {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[end:]), 64)
		if err != nil {
			t.Fatalf("series %q: %v", line, err)
		}
		values[line[:end]] = value
	}
	return values
}
