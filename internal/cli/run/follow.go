package run

import (
	"context"
	"errors"
	"os"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
	jobcore "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/store"
)

// errServerEnded means that the embedded server has stopped. Closing the target returns the server's own error.
var errServerEnded = errors.New("the server inside this process has stopped: the jobs are kept; run the same command again to continue")

// tick is how often progress is shown without a change, as the time left changes.
const tick = 250 * time.Millisecond

// follower shows the progress of the Jobs of a run until all have finished, and their outcomes.
//
//	watcher ── Jobs, pods ──▶ tracker ──▶ progress, waits, pulls, retries
//	Ctrl-C ──▶ stopper           └─ ended ──▶ concluder
type follower struct {
	*connection
	out        output.Output
	interrupts <-chan os.Signal
	opts       Options

	jobs    *tracker
	pods    *podReader
	watcher *watcher
	pulls   *pulls
	retries *retries
	ends    *concluder
	stopper *stopper
}

// newFollower returns a follower for Jobs on the server of c. Set joined if the Job existed before: it is then not deleted on
// Ctrl-C.
func newFollower(o Options, c *connection, out output.Output, joined bool) *follower {
	jobs := newTracker()
	pods := &podReader{connection: c, out: out, jobs: jobs, show: o.Logs}
	return &follower{
		connection: c, out: out, interrupts: o.Interrupts, opts: o, jobs: jobs, pods: pods,
		watcher: &watcher{connection: c, note: out.Note, jobs: jobs, pods: pods, gone: make(chan *target.Target, 1)},
		pulls:   &pulls{connection: c, out: out, jobs: jobs, byImage: map[string]*pull{}},
		retries: &retries{connection: c, jobs: jobs},
		ends: &concluder{connection: c, out: out, jobs: jobs, pods: pods, completeDeleted: o.CompleteDeleted, joined: joined,
			slots: make(chan struct{}, concludedAtOnce)},
		stopper: &stopper{connection: c, note: out.Note, jobs: jobs, joined: joined, deletionTimeout: deletionTimeout},
	}
}

// track adds a Job to the run.
func (f *follower) track(job *batchv1.Job, how output.How, order int) {
	t := newTracked(job, how, order)
	f.out.Start(t.ref, how)
	if ptr.Deref(job.Spec.Suspend, false) && !jobcore.IsHeld(job) {
		f.out.Note("job " + job.Name + " is suspended and waits for: " + f.caller.Command(job.Namespace, "resume", job.Name))
	}
	f.jobs.add(t)
}

// follow returns when every Job has finished or, after Ctrl-C, when the Jobs are deleted. If the server stops, or makes way for
// another one, it continues with that.
func (f *follower) follow(ctx context.Context, stopNow bool) error {
	if stopNow {
		f.stopper.press(ctx)
	}
	for {
		err := f.followHere(ctx)
		switch {
		case errors.Is(err, errGone):
			err = f.reconnect(ctx)
		case errors.Is(err, errMakeWay):
			err = f.makeWay(ctx)
		default:
			return err
		}
		if err != nil {
			return err
		}
	}
}

// giveUp deletes the Jobs that this run has created, as the run will not follow them. It keeps Jobs that existed before.
func (f *follower) giveUp(ctx context.Context) {
	f.jobs.dropFollowed()
	// The caller returns the error that made the run give up.
	_ = f.follow(ctx, true)
}

// followHere is follow with one server.
func (f *follower) followHere(ctx context.Context) error {
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	f.watcher.watch(watching)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for !f.jobs.settled() {
		select {
		case <-f.jobs.changed:
			f.pulls.print(watching)
			f.refresh(ctx)
		case <-ticker.C:
			f.printProgress()
			f.printWaits()
			f.pulls.print(watching)
			f.retries.ask(watching)
			if f.stopper.stuck(time.Now()) {
				return errors.Join(ErrInterrupted, f.stopper.remaining(ctx))
			}
			if f.target.Kind == target.Embedded && !f.stopper.begun() && store.HasServer(f.opts.Target.DataDir) {
				return errMakeWay
			}
		case <-f.interrupts:
			f.stopper.press(ctx)
		case which := <-f.watcher.gone:
			if which == f.target {
				return errGone
			}
		case <-f.target.Stopped():
			return errServerEnded
		case <-ctx.Done():
			return ctx.Err()
		}
		if f.stopper.abandon {
			return ErrInterrupted
		}
	}
	f.ends.wait()
	if f.stopper.begun() {
		f.readLastLogs(ctx)
		return ErrInterrupted
	}
	return f.verdict()
}

func (f *follower) verdict() error {
	if !f.jobs.completed() {
		return ErrFailed
	}
	return nil
}

// unreachable reports whether an error is one of the connection rather than a response of the server.
func unreachable(err error) bool {
	return utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsTimeout(err)
}
