package store

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// sizes are etcd's names of the size of the database file, and of the part that is used.
var sizes = []string{"etcd_mvcc_db_total_size_in_bytes", "etcd_mvcc_db_total_size_in_use_in_bytes"}

// Sizes gathers the metrics of the size of the store. The other metrics of etcd describe servers on a network.
var Sizes = prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
	all, err := prometheus.DefaultGatherer.Gather()
	return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return !slices.Contains(sizes, f.GetName()) }), err
})
