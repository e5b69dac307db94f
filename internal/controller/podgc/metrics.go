package podgc

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics have the names that kube-controller-manager uses, so that its dashboards show this controller too.
type metrics struct{ deleted, failed *prometheus.CounterVec }

func newMetrics(r prometheus.Registerer) (metrics, error) {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "pod_gc_collector", Name: name, Help: help},
			[]string{"namespace", "reason"})
	}
	m := metrics{
		deleted: counter("force_delete_pods_total", "Pods that were deleted."),
		failed:  counter("force_delete_pod_errors_total", "Pods that could not be deleted; each try counts."),
	}
	if r == nil {
		return m, nil
	}
	return m, errors.Join(r.Register(m.deleted), r.Register(m.failed))
}

func (m metrics) count(namespace string, why Reason, err error) {
	counter := m.deleted
	if err != nil {
		counter = m.failed
	}
	counter.WithLabelValues(namespace, string(why)).Inc()
}
