package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/localstorage"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/podstatus"
)

const (
	// measureEvery is the period of a kubelet.
	measureEvery = 10 * time.Second
	// measureRest is the minimum pause between measurements, as a multiple of the time that the last one took.
	measureRest = 10
)

// localStorageEviction evicts pods that exceed their limits of disk space.
type localStorageEviction struct {
	diskMeter
	pods  *pods
	every time.Duration
	wake  func(...types.UID)
}

// run measures pods that have limits of disk space, one after the other, until ctx ends.
func (e *localStorageEviction) run(ctx context.Context) {
	pause := time.NewTimer(e.every)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		began := time.Now()
		if e.runtime.Info().CanMeasure {
			for _, uid := range e.pods.uids() {
				e.check(ctx, uid)
			}
		}
		pause.Reset(max(e.every, measureRest*time.Since(began)))
	}
}

// check evicts a pod that exceeds a limit.
func (e *localStorageEviction) check(ctx context.Context, uid types.UID) {
	p := e.pods.get(uid)
	if p == nil || ctx.Err() != nil {
		return
	}
	api, running := p.measurable()
	if api == nil || !localstorage.IsLimited(api) {
		return
	}
	usage, err := e.usageOf(ctx, api, running)
	if err != nil {
		warn(ctx, "measure the disk usage of a pod", err, "pod", api.Namespace+"/"+api.Name)
		return
	}
	if message := localstorage.Exceeded(api, usage); message != "" {
		p.evict(lifecycle.Eviction{Message: message, At: now()})
		e.wake(uid)
	}
}

// measurable returns the pod and its running containers if it has started, has not terminated, and is not being
// evicted.
func (p *pod) measurable() (*corev1.Pod, []runtime.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.api == nil || p.absent || len(p.containers) == 0 || p.eviction != nil || podstatus.IsTerminal(p.api.Status.Phase) {
		return nil, nil
	}
	return p.api, p.runningIDs()
}

func (p *pod) evict(e lifecycle.Eviction) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.eviction = &e
}

func (p *pod) evicted() *lifecycle.Eviction {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.eviction
}
