package job_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/await"
)

func TestMetricsCarryThePublishedNames(t *testing.T) {
	o := quick()
	registry := prometheus.NewRegistry()
	o.Registerer = registry
	e := start(t, o, func(p *corev1.Pod) fate {
		if p.Annotations[batchv1.JobCompletionIndexAnnotation] == "1" {
			return fail42
		}
		return succeed
	})
	e.create(newJob("external", func(s *batchv1.JobSpec) { s.ManagedBy = ptr.To("example.com/other") }))
	e.create(newJob("j", pods(3, 3), indexed, func(s *batchv1.JobSpec) {
		s.BackoffLimitPerIndex = ptr.To[int32](1)
		s.PodFailurePolicy = onExitCode42(batchv1.PodFailurePolicyActionFailIndex)
	}))
	e.untilFinished("j")
	want := map[string]float64{
		"job_controller_jobs_finished_total{Indexed,FailedIndexes,failed}":       1,
		"job_controller_job_pods_finished_total{Indexed,failed}":                 1,
		"job_controller_job_pods_finished_total{Indexed,succeeded}":              2,
		"job_controller_job_pods_creation_total{new,succeeded}":                  3,
		"job_controller_job_finished_indexes_total{perIndex,succeeded}":          2,
		"job_controller_job_finished_indexes_total{perIndex,failed}":             1,
		"job_controller_pod_failures_handled_by_failure_policy_total{FailIndex}": 1,
		"job_controller_terminated_pods_tracking_finalizer_total{add}":           3,
		"job_controller_terminated_pods_tracking_finalizer_total{delete}":        3,
		"job_controller_jobs_by_external_controller_total{example.com/other}":    1,
	}
	e.untilMeasured(registry, want)
}

// With a long batch period, pods are also counted between decisions.
func TestPodsAreMeasuredWheneverTheyAreCounted(t *testing.T) {
	o := quick()
	o.SyncBatchPeriod = 200 * time.Millisecond
	registry := prometheus.NewRegistry()
	o.Registerer = registry
	var ended atomic.Int32
	e := start(t, o, func(*corev1.Pod) fate {
		if ended.Add(1) == 1 {
			return fail42
		}
		return succeed
	})
	e.create(newJob("j", pods(6, 2)))
	e.untilFinished("j")
	e.untilMeasured(registry, map[string]float64{
		"job_controller_job_pods_finished_total{NonIndexed,failed}":    1,
		"job_controller_job_pods_finished_total{NonIndexed,succeeded}": 6,
	})
}

// untilMeasured waits until the counters in want have these values.
func (e *env) untilMeasured(registry *prometheus.Registry, want map[string]float64) {
	e.t.Helper()
	var diff string
	await.Until(e.t, "the metrics to be counted", func() bool {
		got := gather(e.t, registry)
		for name := range got {
			if _, checked := want[name]; !checked {
				delete(got, name)
			}
		}
		diff = cmp.Diff(want, got)
		return diff == ""
	}, func() string { return diff })
}

// gather returns all counters as name{label values}.
func gather(t testing.TB, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		if f.GetType() != dto.MetricType_COUNTER {
			continue
		}
		for _, m := range f.GetMetric() {
			name := f.GetName() + "{"
			for i, l := range m.GetLabel() {
				if i > 0 {
					name += ","
				}
				name += l.GetValue()
			}
			all[name+"}"] = m.GetCounter().GetValue()
		}
	}
	return all
}
