package cronjob

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
)

// metrics have the names that kube-controller-manager uses.
type metrics struct {
	startLateness prometheus.Histogram
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{startLateness: prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: "cronjob_controller", Name: "job_creation_skew_duration_seconds",
		Help:    "From the due time of a CronJob to the creation of its Job.",
		Buckets: prometheus.ExponentialBuckets(1, 2, 10),
	})}
	if r == nil {
		return m, nil
	}
	if err := r.Register(m.startLateness); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return m, nil
}

func (m *metrics) started(job *batchv1.Job, due time.Time) {
	m.startLateness.Observe(job.CreationTimestamp.Sub(due).Seconds())
}
