package cronjob

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Options tune a Controller. The zero value is ready for use.
type Options struct {
	// ConcurrentSyncs is how many CronJobs are synced at the same time; 0 means 5.
	ConcurrentSyncs int
	// Registerer registers the controller's metrics; nil leaves them unregistered.
	Registerer prometheus.Registerer
}
