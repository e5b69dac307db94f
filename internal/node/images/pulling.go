package images

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/image/progress"
	"github.com/stint-dev/stint/internal/image/pull"
	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/store"
)

// pullState is the state of the pulls of one image with the same secrets.
type pullState struct {
	running bool
	// names are the names by which pods have asked for the image of the running pull; began and progress are that
	// pull's.
	names    map[string]bool
	began    time.Time
	progress atomic.Pointer[store.Progress]
	// succeeded is when the last pull that has succeeded began.
	succeeded time.Time
	// waiting are the pods that wait for the running pull, notYetNotified those that have not been given the error of
	// the last one.
	waiting, notYetNotified map[types.UID]bool
	// failures in a row, the last one at failedAt.
	failures int
	failedAt time.Time
	failure  error
}

// waitForPull starts a pull unless one runs, or it is too early after one that failed. The caller holds m.mu.
func (m *Manager) waitForPull(ctx context.Context, p *pullState, ref registry.Reference, r Request) *Waiting {
	if next := p.failedAt.Add(delay(p.failures)); !p.running && p.failures > 0 && now().Before(next) {
		w := &Waiting{Reason: ReasonBackOff, RetryAt: next,
			Message: fmt.Sprintf("Back-off pulling image %q: %v", r.Image, p.failure)}
		if p.notYetNotified[r.Pod] {
			w.Reason, w.Message = reasonOf(p.failure), p.failure.Error()
			delete(p.notYetNotified, r.Pod)
		}
		return w
	}
	p.waiting[r.Pod] = true
	if !p.running {
		p.running, p.began, p.names = true, time.Now(), map[string]bool{}
		p.progress.Store(nil)
		m.record(r.Pod, Event{Image: r.Image, Begins: true})
		go m.pull(ctx, p, ref, r)
	}
	p.names[r.Image] = true
	return &Waiting{Reason: ReasonCreating, Message: progress.Message(r.Image), RetryAt: now().Add(maxDelay)}
}

// delay returns the delay after so many failures in a row.
func delay(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	return min(firstDelay<<min(failures-1, 10), maxDelay)
}

func (m *Manager) pull(ctx context.Context, p *pullState, ref registry.Reference, r Request) {
	began := time.Now()
	image, err := pull.Image(ctx, m.client.With(r.Secrets), m.store, ref, func(current store.Progress) { p.progress.Store(&current) })
	if ctx.Err() != nil {
		return
	}
	m.record(r.Pod, Event{Image: r.Image, Took: time.Since(began), Size: image.Size, Failure: err})
	m.mu.Lock()
	waiting := p.end(began, err)
	m.mu.Unlock()
	for pod := range waiting {
		m.wake(pod)
	}
}

// end stores the outcome of a pull, and returns the pods that have waited for it.
func (p *pullState) end(began time.Time, err error) map[types.UID]bool {
	waiting := p.waiting
	p.running, p.waiting, p.notYetNotified = false, map[types.UID]bool{}, nil
	if err == nil {
		p.succeeded, p.failures, p.failure = began, 0, nil
		return waiting
	}
	if now().Sub(p.failedAt) > forgetFailures {
		p.failures = 0
	}
	p.failures++
	p.failure, p.failedAt, p.notYetNotified = err, now(), maps.Clone(waiting)
	return waiting
}

// reasonOf returns the waiting reason for a pull that has failed.
func reasonOf(failure error) string {
	if errors.Is(failure, registry.ErrUnavailable) {
		return ReasonUnavailable
	}
	return ReasonFailed
}
