package scheduledjob_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/test/await"
)

func TestMetricsCountRuns(t *testing.T) {
	registry := prometheus.NewRegistry()
	e := start(t, scheduledjob.Options{Registerer: registry})
	e.create(newScheduledJob("fails", "R1//PT1S", command("false"), func(s *stintv1.ScheduledJobSpec) { s.MaxRestart = ptr.To[int32](0) }))
	e.create(newScheduledJob("succeeds", ""))
	e.request("succeeds", "mine")
	e.create(newScheduledJob("skips", "R1//PT1S", func(s *stintv1.ScheduledJobSpec) { s.Suspend = ptr.To(true) }))
	e.until("fails", "it has ended", completed(1))
	e.until("succeeds", "it has ended", completed(1))
	e.until("skips", "its time has passed", func(s *stintv1.ScheduledJobStatus) bool { return s.SkippedCount == 1 })
	want := map[string]float64{
		"stint_scheduledjob_runs_started_total":              2,
		"stint_scheduledjob_runs_completed_total success":    1,
		"stint_scheduledjob_runs_completed_total failure":    1,
		"stint_scheduledjob_runs_skipped_total":              1,
		"stint_scheduledjob_start_lateness_seconds observed": 1,
	}
	var diff string
	await.Until(e.t, "metrics", func() bool {
		got := gather(t, registry)
		delete(got, "stint_scheduledjob_syncs_total success")
		delete(got, "stint_scheduledjob_syncs_total error") // From conflicts with other writes of a status.
		delete(got, "stint_scheduledjob_sync_duration_seconds observed")
		diff = cmp.Diff(want, got)
		return diff == ""
	}, func() string { return diff })
}

// gather returns the values of counters, and the sample counts of histograms.
func gather(t *testing.T, r *prometheus.Registry) map[string]float64 {
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			if h := m.GetHistogram(); h != nil {
				all[name+" observed"] = float64(h.GetSampleCount())
			} else {
				all[name] = m.GetCounter().GetValue()
			}
		}
	}
	return all
}
