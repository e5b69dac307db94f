package scheduledjob

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// tagLayout is the format of the tags of scheduled runs.
const tagLayout = "20060102-150405"

type metrics struct {
	syncs       *prometheus.CounterVec
	syncSeconds prometheus.Histogram
	lateness    prometheus.Histogram
	runsStarted prometheus.Counter
	runsEnded   *prometheus.CounterVec
	runsSkipped prometheus.Counter
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "stint_scheduledjob", Name: name, Help: help}
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "stint_scheduledjob", Name: name, Help: help, Buckets: buckets})
	}
	m := &metrics{
		syncs: prometheus.NewCounterVec(prometheus.CounterOpts(
			opts("syncs_total", "Syncs of ScheduledJobs.")), []string{"result"}),
		syncSeconds: histogram("sync_duration_seconds", "How long one sync of a ScheduledJob took.",
			prometheus.ExponentialBuckets(0.001, 2, 15)),
		lateness: histogram("start_lateness_seconds", "From the due time of a run to the creation of its Job.",
			prometheus.ExponentialBuckets(0.01, 2, 18)),
		runsStarted: prometheus.NewCounter(prometheus.CounterOpts(opts("runs_started_total", "Runs that have started."))),
		runsEnded: prometheus.NewCounterVec(prometheus.CounterOpts(
			opts("runs_completed_total", "Runs that have ended.")), []string{"result"}),
		runsSkipped: prometheus.NewCounter(prometheus.CounterOpts(
			opts("runs_skipped_total", "Due times that passed without a run."))),
	}
	if r == nil {
		return m, nil
	}
	return m, errors.Join(r.Register(m.syncs), r.Register(m.syncSeconds), r.Register(m.lateness),
		r.Register(m.runsStarted), r.Register(m.runsEnded), r.Register(m.runsSkipped))
}

func (m *metrics) synced(err error, took time.Duration) {
	result := "success"
	if err != nil {
		result = "error"
	}
	m.syncs.WithLabelValues(result).Inc()
	m.syncSeconds.Observe(took.Seconds())
}

// started counts how late the Job of a scheduled run was created.
func (m *metrics) started(job *batchv1.Job, now time.Time) {
	if due, err := time.Parse(tagLayout, job.Labels[stintv1.LabelJobTag]); err == nil {
		m.lateness.Observe(max(0, now.Sub(due).Seconds()))
	}
}

// counted counts the runs that a written status has and the one before it did not have.
func (m *metrics) counted(was, is *stintv1.ScheduledJobStatus) {
	m.runsStarted.Add(float64(max(0, is.ScheduleCount-was.ScheduleCount)))
	m.runsSkipped.Add(float64(max(0, is.SkippedCount-was.SkippedCount)))
	known := map[string]bool{}
	for i := range was.CompletedExecutions {
		known[was.CompletedExecutions[i].Tag] = true
	}
	for i := range is.CompletedExecutions {
		e := &is.CompletedExecutions[i]
		switch {
		case known[e.Tag]:
		case ptr.Deref(e.Success, false):
			m.runsEnded.WithLabelValues("success").Inc()
		default:
			m.runsEnded.WithLabelValues("failure").Inc()
		}
	}
}
