package verbs

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/run"
	"github.com/stint-dev/stint/internal/cli/target"
)

// follow prints the logs of all pods of a Job, those to come included, until it has ended.
func (c *logsCommand) follow(ctx context.Context, t *target.Target, job *batchv1.Job) error {
	options, err := c.connection.Where()
	if err != nil {
		return err
	}
	err = run.Follow(ctx, run.Options{Logs: run.LogsAll, Target: options, Output: func() output.Output {
		return logsOnly{output.NewPlain(c.Out, c.ErrOut, false)}
	}}, t, job)
	if errors.Is(err, run.ErrFailed) {
		return nil // the logs are whole
	}
	return err
}

// logsOnly leaves out what is not in the logs, but for remarks on why they may not be whole.
type logsOnly struct{ *output.Plain }

func (logsOnly) Start(output.Job, output.How) {}
func (logsOnly) JobWaiting(output.JobWait)    {}
func (logsOnly) Progress(output.Progress)     {}
func (logsOnly) PodFailed(output.PodFailure)  {}
func (logsOnly) PodWaiting(output.PodWait)    {}
func (logsOnly) Pull(output.Pull)             {}
func (logsOnly) Finish(output.Result)         {}
