package cronjob

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Options tune a Controller. The zero value is ready for use.
type Options struct {
	// ConcurrentSyncs is how many CronJobs are worked on at the same time; 0 is 5.
	ConcurrentSyncs int
	// Registerer takes the controller's metrics; nil leaves them unregistered.
	Registerer prometheus.Registerer
}
