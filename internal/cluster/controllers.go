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

// Controllers are the names that Options.Controllers may hold.
var Controllers = []string{jobController, scheduledJobController, cronJobController}

// OnRequest are those of them that run only where a person names them: kube-controller-manager runs CronJobs too, and no
// field of a CronJob tells which of the two is to.
var OnRequest = []string{cronJobController}

type controller interface {
	Run(ctx context.Context) error
}

// chosen makes the controllers that are asked for. They ask c for informers, so none runs that nobody needs.
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

// runAll works until ctx ends, or one of the controllers fails, which ends the others.
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
