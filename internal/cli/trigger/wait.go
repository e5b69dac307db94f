package trigger

import (
	"context"
	"errors"
	"io"
	"os"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/run"
	"github.com/stint-dev/stint/internal/cli/schedules"
	"github.com/stint-dev/stint/internal/cli/targetflags"
)

// waiting follows a requested run to its end.
type waiting struct {
	targetflags.Flags
	clients *schedules.Clients
	run     schedules.Run
	out     output.Output
	stdout  io.Writer
}

// follow waits for the run's Job, and then until the Job has finished.
func (w *waiting) follow(ctx context.Context) error {
	options, err := w.Options()
	if err != nil {
		return errors.Join(err, w.out.Close())
	}
	interrupts, stop := command.Interrupts(w.stdout)
	defer stop()
	job, there, err := w.start(ctx, interrupts)
	if err != nil {
		return errors.Join(err, w.out.Close())
	}
	if !there {
		return w.conclude(job)
	}
	return run.Follow(ctx, run.Options{Logs: run.LogsAll, Target: options, Interrupts: interrupts,
		Output: func() output.Output { return w.out },
		CompleteDeleted: func(ctx context.Context, job *batchv1.Job) *batchv1.Job {
			return w.clients.CompleteDeleted(ctx, w.run, job)
		},
	}, w.clients.Target(), job)
}

// start waits for the Job, and reports whether it still exists.
func (w *waiting) start(ctx context.Context, interrupts <-chan os.Signal) (*batchv1.Job, bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		job   *batchv1.Job
		there bool
		err   error
	}
	started := make(chan result, 1)
	go func() {
		job, there, err := w.clients.Start(ctx, w.run, w.out.Note)
		started <- result{job, there, err}
	}()
	select {
	case r := <-started:
		return r.job, r.there, r.err
	case <-interrupts:
		cancel()
		<-started
		w.out.Note("the run is still pending; its job will be " + w.run.Job)
		return nil, false, run.ErrInterrupted
	}
}

// conclude shows the outcome of a run whose Job no longer exists.
func (w *waiting) conclude(job *batchv1.Job) error {
	result := output.Result{Job: output.Job{Namespace: job.Namespace, Name: job.Name}, Outcome: output.Deleted}
	err := run.ErrFailed
	for _, c := range job.Status.Conditions {
		result.Outcome, result.Reason, result.Message = output.Outcome(c.Type), c.Reason, c.Message
		if c.Type == batchv1.JobComplete {
			err = nil
		}
	}
	w.out.Finish(result)
	return errors.Join(err, w.out.Close())
}
