package run

import (
	"context"
	"errors"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/output"
	"github.com/stint-dev/stint/internal/cli/target"
)

// session is one run: its objects are submitted, then its Jobs are followed.
type session struct {
	*connection
	opts      Options
	submitter *submitter
	follower  *follower
}

func newSession(o Options, t *target.Target, out output.Output) (*session, error) {
	c, err := newConnection(t, o.Target.DataDir, out.Note)
	return &session{connection: c, opts: o, submitter: newSubmitter(o, c, out), follower: newFollower(o, c, out, false)}, err
}

func (s *session) run(ctx context.Context, objects []*manifest.Object) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.submitter.complete(objects); err != nil {
		return err
	}
	setup, interrupted := s.untilInterrupt(ctx)
	plans, err := s.submitter.check(setup, objects)
	if err != nil {
		return orInterrupted(interrupted(), err)
	}
	if err := s.submitter.refuseFlags(); err != nil {
		return err
	}
	if err := s.submitter.checkClaims(setup); err != nil {
		return orInterrupted(interrupted(), err)
	}
	s.submitter.note(jobsOf(objects))
	if err := s.submitter.noteAbsent(setup, objects); err != nil {
		return orInterrupted(interrupted(), err)
	}
	s.follower.pods.begin(ctx, jobsOf(objects))
	err = s.submit(setup, objects, plans)
	if err == nil {
		s.follower.printOrder(setup)
	}
	if interrupted() {
		return s.follower.follow(ctx, true)
	}
	if err != nil {
		s.follower.giveUp(ctx)
		return err
	}
	return s.follower.follow(ctx, false)
}

// submit creates the other objects and the claims, then the Jobs, and gives each Job to the follower.
func (s *session) submit(ctx context.Context, objects []*manifest.Object, plans []*plan) error {
	if err := s.submitter.createSupport(ctx, objects); err != nil {
		return err
	}
	if err := s.submitter.makeClaims(ctx); err != nil {
		return err
	}
	if err := s.submitter.replace(ctx, plans); err != nil {
		return err
	}
	if err := s.follower.watcher.markPods(ctx, plans); err != nil {
		return err
	}
	return s.submitter.createJobs(ctx, plans, s.follower.track)
}

// untilInterrupt returns a context that Ctrl-C ends, and a function that stops listening and reports whether Ctrl-C has ended
// it.
func (s *session) untilInterrupt(ctx context.Context) (context.Context, func() bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		select {
		case <-s.opts.Interrupts:
			cancel(ErrInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() bool {
		cancel(nil)
		<-listening
		return errors.Is(context.Cause(ctx), ErrInterrupted)
	}
}

func orInterrupted(interrupted bool, err error) error {
	if interrupted {
		return ErrInterrupted
	}
	return err
}
