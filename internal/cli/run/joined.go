package run

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
)

// Follow shows progress and logs of an existing Job on t until it has finished. Ctrl-C does not delete the Job. Errors are
// those of Run.
func Follow(ctx context.Context, o Options, t *target.Target, job *batchv1.Job) (err error) {
	out := o.Output()
	c, err := newConnection(t, o.Target.DataDir, out.Note)
	if err != nil {
		return errors.Join(err, out.Close())
	}
	// If the follower has connected to another server, close that here; the caller closes t.
	defer func() {
		err = errors.Join(err, out.Close())
		if c.target != t {
			err = errors.Join(err, c.target.Close())
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := newFollower(o, c, out, true)
	f.pods.begin(ctx, []*batchv1.Job{job})
	f.track(job, output.Created, 0)
	f.printOrder(ctx)
	return f.follow(ctx, false)
}
