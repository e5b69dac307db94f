package run

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
)

// Follow shows progress and logs of a Job that is on t already, until it has ended. Ctrl-C leaves it alone. Errors are
// those of Run.
func Follow(ctx context.Context, o Options, t *target.Target, job *batchv1.Job) (err error) {
	out := o.Output()
	s, err := newSession(o, t, out)
	if err != nil {
		return errors.Join(err, out.Close())
	}
	// A server that was found later is this function's own.
	defer func() {
		err = errors.Join(err, out.Close())
		if s.target != t {
			err = errors.Join(err, s.target.Close())
		}
	}()
	s.joined = true
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.collectLogs(ctx, []*batchv1.Job{job})
	s.track(job, output.Created, 0)
	s.tellOrder(ctx)
	return s.follow(ctx, false)
}

// leave ends the following of a Job that is not this command's to end.
func (s *session) leave() {
	for _, job := range s.unended() {
		ref := output.Job{Namespace: job.Namespace, Name: "job/" + job.Name}
		s.out.Note("job " + job.Name + " goes on; to see it again: " + s.caller.Command(ref.Namespace, "logs", "-f", ref.Name))
	}
	s.halt.abandon = true
}
