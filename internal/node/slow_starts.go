package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/containers"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// startPatience is how long a worker waits until a container has started. A start hangs while a disk does not answer, or another
// container of the pod has stopped the process.
const startPatience = time.Second

// startResult is what the runtime has returned for a start.
type startResult struct {
	status runtime.Status
	err    error
}

// startSoon starts a container, and calls apply with the result: at once, or in a later sync if the start is slow.
func (w *podWorkers) startSoon(ctx context.Context, p *pod, c runtime.Container, apply func(*corev1.Pod, startResult)) {
	result := make(chan startResult, 1)
	w.background.Go(func() {
		status, err := w.runtime.Start(ctx, c)
		result <- startResult{status, err}
	})
	patience := time.NewTimer(startPatience)
	defer patience.Stop()
	select {
	case r := <-result:
		api, _ := p.current()
		apply(api, r)
	case <-patience.C:
		w.awaitStart(p, c.ID, func(api *corev1.Pod, r startResult) {
			delete(p.starting, c.Container)
			apply(api, r)
		}, result)
	}
}

// awaitStart has the pod synced again when a slow start has a result.
func (w *podWorkers) awaitStart(p *pod, id runtime.ID, apply func(*corev1.Pod, startResult), result <-chan startResult) {
	if p.starting == nil {
		p.starting = map[string]runtime.ID{}
	}
	p.starting[id.Container] = id
	w.background.Go(func() {
		r := <-result
		p.addStart(func(api *corev1.Pod) { apply(api, r) })
		w.wake(p.uid)
	})
}

// recordStarting stores as the waiting reason of a container that it is being started. It returns false if it is not.
func (p *pod) recordStarting(container string) bool {
	if _, starting := p.starting[container]; !starting {
		return false
	}
	p.addStartFailure(container, lifecycle.StartFailure{Reason: containers.ReasonCreating, RetryAt: now().Add(maxRetryAfter)})
	return true
}

func (p *pod) addStart(apply func(*corev1.Pod)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slowStarts = append(p.slowStarts, apply)
}

// processStarts applies the results of slow starts.
func (p *pod) processStarts() {
	p.mu.Lock()
	starts := p.slowStarts
	p.slowStarts = nil
	p.mu.Unlock()
	for _, apply := range starts {
		api, _ := p.current()
		apply(api)
	}
}

// endStarts kills the containers of a pod that ends which have not started yet. It reports whether there are any.
func (w *podWorkers) endStarts(ctx context.Context, p *pod) (any bool) {
	for _, id := range p.starting {
		if err := w.runtime.Stop(ctx, id, 0); err != nil {
			warn(ctx, "stop container", err, "pod", p.uid, "container", id.Container)
			w.alarm.Set(p.uid, now().Add(retryAfter))
		}
	}
	return len(p.starting) > 0
}
