package run

import (
	"context"
	"errors"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/stint-dev/stint/internal/cli/output"
	jobcore "github.com/stint-dev/stint/internal/job"
)

// errServerEnded comes with what the server itself said.
var errServerEnded = errors.New("the server inside this process has ended: the jobs are kept, run the same command again to go on")

// tick is how often progress is told while nothing changes: time left moves by itself.
const tick = 250 * time.Millisecond

// follow returns when every Job has ended, or when what the user interrupted is stopped. It outlives servers.
func (s *session) follow(ctx context.Context, stopNow bool) error {
	if stopNow {
		s.stop(ctx)
	}
	for {
		err := s.followHere(ctx)
		if !errors.Is(err, errGone) {
			return err
		}
		if err := s.reconnect(ctx); err != nil {
			return err
		}
	}
}

// followHere is follow with one server.
func (s *session) followHere(ctx context.Context) error {
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	s.watch(watching)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for !s.settled() {
		select {
		case <-s.changed:
			s.tellPulls(watching)
			s.look(ctx)
		case <-ticker.C:
			s.tellProgress()
			s.tellWaits()
			s.tellPulls(watching)
			s.askRetry(watching)
			if s.stuck(time.Now()) {
				return errors.Join(ErrInterrupted, s.left(ctx))
			}
		case <-s.opts.Interrupts:
			s.stop(ctx)
		case which := <-s.gone:
			if which == s.target {
				return errGone
			}
		case <-s.target.Stopped():
			return errServerEnded
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.halt.abandon {
			return ErrInterrupted
		}
	}
	s.conclusion.Wait()
	if s.halt.begun() {
		s.lastWords(ctx)
		return ErrInterrupted
	}
	return s.verdict()
}

// lastWords waits for what pods wrote when they were told to end, unless Ctrl-C is pressed again.
func (s *session) lastWords(ctx context.Context) {
	if s.logs == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	go func() {
		for {
			select {
			case <-s.opts.Interrupts:
				if !s.halt.bounces(time.Now()) {
					cancel()
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	s.logs.DrainAll(ctx)
}

// look takes in what has changed.
func (s *session) look(ctx context.Context) {
	now := time.Now()
	var tell []output.Progress
	s.mu.Lock()
	for _, t := range s.jobs {
		if !t.updated || t.ended {
			continue
		}
		t.updated = false
		tell = append(tell, t.progress(now))
		if jobcore.Finished(t.job) || t.gone {
			t.ended = true
			s.conclude(ctx, t, s.halt.begun())
		}
	}
	s.mu.Unlock()
	for _, p := range tell {
		s.out.Progress(p)
	}
}

func (s *session) tellProgress() {
	now := time.Now()
	var tell []output.Progress
	s.mu.Lock()
	for _, t := range s.jobs {
		if !t.ended {
			tell = append(tell, t.progress(now))
		}
	}
	s.mu.Unlock()
	for _, p := range tell {
		s.out.Progress(p)
	}
}

// settled reports whether the run is over: every Job has ended and been told of; after an interrupt those that had not
// ended must be gone.
func (s *session) settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid, t := range s.jobs {
		if s.halt.deleting[uid] && !t.gone {
			return false
		}
		if t.outcome == "" {
			return false
		}
	}
	return true
}

func (s *session) verdict() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.jobs {
		if t.outcome != output.Complete {
			return ErrFailed
		}
	}
	return nil
}

// unreachable reports whether an error is about the way to the server rather than an answer of it.
func unreachable(err error) bool {
	return utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsTimeout(err)
}
