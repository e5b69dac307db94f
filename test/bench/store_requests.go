package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/component-base/metrics/legacyregistry"
)

// storeRequests counts the requests to the store by what they do and the kind, and the flushes of its log.
type storeRequests map[string]float64

// flushes is the entry of storeRequests for flushes of the log. Writes that are under way at the same time share one.
const flushes = "flushes"

func countStoreRequests() (storeRequests, error) {
	all := storeRequests{}
	for metric, gatherer := range map[string]prometheus.Gatherer{
		"etcd_request_duration_seconds":        legacyregistry.DefaultGatherer,
		"etcd_disk_wal_fsync_duration_seconds": prometheus.DefaultGatherer,
	} {
		families, err := gatherer.Gather()
		if err != nil {
			return nil, fmt.Errorf("count requests to the store: %w", err)
		}
		for _, f := range families {
			if f.GetName() == metric {
				all.add(f)
			}
		}
	}
	return all, nil
}

func (r storeRequests) add(f *dto.MetricFamily) {
	for _, m := range f.GetMetric() {
		var words []string
		for _, l := range m.GetLabel() {
			if l.GetValue() != "" && l.GetName() != "group" {
				words = append(words, l.GetValue())
			}
		}
		name := strings.Join(words, " ")
		if name == "" {
			name = flushes
		}
		r[name] += float64(m.GetHistogram().GetSampleCount())
	}
}

// since returns what each of n things took, as text, the most frequent requests first.
func (r storeRequests) since(before storeRequests, n int) string {
	each := map[string]float64{}
	var names []string
	for name, count := range r {
		if each[name] = (count - before[name]) / float64(n); each[name] >= 0.005 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(each[b], each[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %.2f", name, each[name])
	}
	return strings.Join(names, ", ")
}
