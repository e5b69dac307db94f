package cli

import (
	"github.com/spf13/pflag"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/stint-dev/stint/internal/controller/scheduledjob"
)

// scheduleFlags tune the controllers of schedules, wherever they run.
type scheduleFlags struct {
	scheduledJobSyncs int
}

func (f *scheduleFlags) add(flags *pflag.FlagSet, syncs int) {
	flags.IntVar(&f.scheduledJobSyncs, "concurrent-scheduled-job-syncs", syncs, "how many ScheduledJobs are worked on at the same time")
}

func (f *scheduleFlags) check() error {
	if f.scheduledJobSyncs < 1 {
		return badInputf("--concurrent-scheduled-job-syncs %d: must be at least 1", f.scheduledJobSyncs)
	}
	return nil
}

func (f *scheduleFlags) scheduledJob() scheduledjob.Options {
	return scheduledjob.Options{ConcurrentSyncs: f.scheduledJobSyncs, Registerer: legacyregistry.Registerer()}
}
