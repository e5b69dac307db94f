package cluster

import (
	"context"
	"errors"
	"slices"

	"github.com/stint-dev/stint/internal/client/remote"
	"github.com/stint-dev/stint/internal/controller/cronjob"
	"github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/internal/controller/scheduledjob"
	"github.com/stint-dev/stint/internal/events"
)

const (
	jobController          = "job"
	scheduledJobController = "scheduledjob"
	cronJobController      = "cronjob"
)

// Controllers are the valid names in Options.Controllers.
var Controllers = []string{jobController, scheduledJobController, cronJobController}

// OnRequest are controllers that run only if the user names them: kube-controller-manager manages CronJobs as well, and a CronJob
// has no field managedBy.
var OnRequest = []string{cronJobController}

type controller interface {
	Run(ctx context.Context) error
}

// chosen returns the chosen controllers. c runs only the informers that they need.
func (p *process) chosen(c *remote.Client, w *events.Writer) (out []controller) {
	made := map[string]func() controller{
		jobController: func() controller { return job.New(c, w.Recorder("job-controller"), p.Job) },
		scheduledJobController: func() controller {
			return scheduledjob.New(c, w.Recorder("scheduledjob-controller"), p.ScheduledJob)
		},
		cronJobController: func() controller { return cronjob.New(c, w.Recorder("cronjob-controller"), p.CronJob) },
	}
	for _, name := range Controllers {
		if slices.Contains(p.Controllers, name) {
			out = append(out, made[name]())
		}
	}
	return out
}

// runAll runs the controllers until ctx ends. If one fails, it stops the others.
func runAll(ctx context.Context, controllers []controller) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, len(controllers))
	for _, c := range controllers {
		go func() { ended <- c.Run(ctx) }()
	}
	var errs []error
	for range controllers {
		err := <-ended
		if err != nil {
			stop()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
