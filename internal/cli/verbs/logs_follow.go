package verbs

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/run"
	"github.com/stint-dev/stint/internal/cli/target"
)

// follow prints the logs of all pods of a Job, new ones included, until it has finished.
func (c *logsCommand) follow(ctx context.Context, t *target.Target, job *batchv1.Job) error {
	options, err := c.connection.Where()
	if err != nil {
		return err
	}
	err = run.Follow(ctx, run.Options{Logs: run.LogsAll, Target: options, Output: func() output.Output {
		return logsOnly{output.NewPlain(c.Out, c.ErrOut, false)}
	}}, t, job)
	if errors.Is(err, run.ErrFailed) {
		return nil // the logs are complete
	}
	return err
}

// logsOnly shows logs, and notes about logs that may be incomplete.
type logsOnly struct{ *output.Plain }

func (logsOnly) Start(output.Job, output.How) {}
func (logsOnly) JobWaiting(output.JobWait)    {}
func (logsOnly) Progress(output.Progress)     {}
func (logsOnly) PodFailed(output.PodFailure)  {}
func (logsOnly) PodWaiting(output.PodWait)    {}
func (logsOnly) Pull(output.Pull)             {}
func (logsOnly) Finish(output.Result)         {}
