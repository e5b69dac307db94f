package images

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/image/pull"
	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/store"
)

// pullState is what is known of the pulls of one image with the same secrets.
type pullState struct {
	// current is nil if no pull runs or waits for its turn.
	current *running
	// succeeded is when the last pull that has succeeded began.
	succeeded time.Time
	// notYetNotified are the pods that have not been given the error of the last pull.
	notYetNotified map[types.UID]bool
	// failures in a row, the last one at failedAt.
	failures int
	failedAt time.Time
	failure  error
}

// waitForPull starts a pull unless there is one, or it is too early after one that failed. The caller holds m.mu.
func (m *Manager) waitForPull(ctx context.Context, k key, ref registry.Reference, r Request) *Waiting {
	m.leaveOthers(k, r.Pod)
	p := m.pulls[k]
	if p == nil {
		p = &pullState{}
		m.pulls[k] = p
	}
	if next := p.failedAt.Add(delay(p.failures)); p.current == nil && p.failures > 0 && now().Before(next) {
		return p.backOff(r, next)
	}
	if p.current == nil {
		p.current = &running{key: k, ref: ref, request: r, names: map[string]bool{}, waiting: map[types.UID]bool{}}
		p.current.ctx, p.current.cancel = context.WithCancel(ctx)
		m.turns.waiting = append(m.turns.waiting, p.current)
		m.startNext()
	}
	p.current.names[r.Image], p.current.waiting[r.Pod] = true, true
	return &Waiting{Reason: ReasonCreating, Message: p.current.message(r.Image), RetryAt: now().Add(maxDelay)}
}

// backOff is why a pod waits until the next pull. It is told the error of the last one first.
func (p *pullState) backOff(r Request, next time.Time) *Waiting {
	if p.notYetNotified[r.Pod] {
		delete(p.notYetNotified, r.Pod)
		return &Waiting{Reason: reasonOf(p.failure), Message: p.failure.Error(), RetryAt: next}
	}
	return &Waiting{Reason: ReasonBackOff, Message: fmt.Sprintf("Back-off pulling image %q: %v", r.Image, p.failure), RetryAt: next}
}

// startNext starts the pulls whose turn it is. Pods that have waited for that are woken. The caller holds m.mu.
func (m *Manager) startNext() {
	for r := m.turns.next(); r != nil; r = m.turns.next() {
		r.began = time.Now()
		m.record(r.request.Pod, Event{Image: r.request.Image, Begins: true})
		for pod := range r.waiting {
			m.wake(pod)
		}
		go m.pull(r)
	}
}

// Leave is for a pod that needs no image any more. A pull that no pod waits for ends.
func (m *Manager) Leave(pod types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.turns.of(pod) {
		m.leave(r, pod)
	}
}

// leaveOthers has a pod wait no more for pulls of an image with the secrets that it had before. The caller holds m.mu.
func (m *Manager) leaveOthers(k key, pod types.UID) {
	for _, r := range m.turns.of(pod) {
		if r.key.image == k.image && r.key != k {
			m.leave(r, pod)
		}
	}
}

// leave has a pod wait no more for a pull. The caller holds m.mu.
func (m *Manager) leave(r *running, pod types.UID) {
	delete(r.waiting, pod)
	if len(r.waiting) > 0 {
		r.replace(pod)
		return
	}
	r.cancel()
	p := m.pulls[r.key]
	p.current = nil
	if p.failures == 0 && p.succeeded.IsZero() {
		delete(m.pulls, r.key)
	}
	if r.began.IsZero() {
		m.turns.end(r)
	}
}

// delay returns the delay after so many failures in a row.
func delay(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	return min(firstDelay<<min(failures-1, 10), maxDelay)
}

func (m *Manager) pull(r *running) {
	defer r.cancel()
	report := func(current store.Progress) { r.progress.Store(&current) }
	image, err := pull.Image(r.ctx, m.client.With(r.request.Secrets), m.store, r.ref, report)
	for pod := range m.end(r, image.Size, err) {
		m.wake(pod)
	}
}

// end stores the outcome of a pull, starts those whose turn it is then, and returns the pods that have waited for it. It does nothing if
// the node stops.
func (m *Manager) end(r *running, size int64, err error) map[types.UID]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	abandoned := len(r.waiting) == 0
	if !abandoned && r.ctx.Err() != nil {
		return nil
	}
	m.turns.end(r)
	defer m.startNext()
	if abandoned {
		return nil
	}
	m.record(r.request.Pod, Event{Image: r.request.Image, Took: time.Since(r.began), Size: size, Failure: err})
	m.pulls[r.key].end(r, err)
	return r.waiting
}

// end stores the outcome of the current pull.
func (p *pullState) end(r *running, err error) {
	p.current, p.notYetNotified = nil, nil
	if err == nil {
		p.succeeded, p.failures, p.failure = r.began, 0, nil
		return
	}
	if now().Sub(p.failedAt) > forgetFailures {
		p.failures = 0
	}
	p.failures++
	p.failure, p.failedAt, p.notYetNotified = err, now(), maps.Clone(r.waiting)
}

// reasonOf returns the waiting reason for a pull that has failed.
func reasonOf(failure error) string {
	if errors.Is(failure, registry.ErrUnavailable) {
		return ReasonUnavailable
	}
	return ReasonFailed
}
