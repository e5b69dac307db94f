package controllerflags

import (
	"github.com/spf13/pflag"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
)

// Schedules are the flags of the CronJob and ScheduledJob controllers.
type Schedules struct{ cronJobSyncs, scheduledJobSyncs int }

// Add defines the flags, with these defaults.
func (f *Schedules) Add(flags *pflag.FlagSet, cronJobSyncs, scheduledJobSyncs int) {
	flags.IntVar(&f.cronJobSyncs, "concurrent-cron-job-syncs", cronJobSyncs, "how many CronJobs are synced at the same time")
	flags.IntVar(&f.scheduledJobSyncs, "concurrent-scheduled-job-syncs", scheduledJobSyncs, "how many ScheduledJobs are synced at the same time")
}

// Checked returns the options, with the metrics of this process.
func (f *Schedules) Checked() (c cronjob.Options, s scheduledjob.Options, err error) {
	if f.cronJobSyncs < 1 {
		return c, s, command.BadInputf("--concurrent-cron-job-syncs %d: must be at least 1", f.cronJobSyncs)
	}
	if f.scheduledJobSyncs < 1 {
		return c, s, command.BadInputf("--concurrent-scheduled-job-syncs %d: must be at least 1", f.scheduledJobSyncs)
	}
	return cronjob.Options{ConcurrentSyncs: f.cronJobSyncs, Registerer: legacyregistry.Registerer()},
		scheduledjob.Options{ConcurrentSyncs: f.scheduledJobSyncs, Registerer: legacyregistry.Registerer()}, nil
}
