package ttl

import (
	"github.com/prometheus/client_golang/prometheus"
)

// newLateness returns a metric of the name that kube-controller-manager uses, so that its dashboards show this controller
// too.
func newLateness(r prometheus.Registerer) (prometheus.Histogram, error) {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: "ttl_after_finished_controller", Name: "job_deletion_duration_seconds",
		Help:    "How long after its time a Job was deleted.",
		Buckets: prometheus.ExponentialBuckets(0.1, 2, 14),
	})
	if r == nil {
		return h, nil
	}
	return h, r.Register(h)
}
