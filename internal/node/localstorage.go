package node

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/localstorage"
	"github.com/stint-dev/stint/internal/node/podlogs"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/node/volumes"
	"github.com/stint-dev/stint/internal/podspec"
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
	pods    *pods
	runtime runtime.Runtime
	dirs    *podDirs
	logs    *podlogs.Store
	every   time.Duration
	wake    func(...types.UID)
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

// usageOf measures the disk usage of a pod with these running containers.
func (e *localStorageEviction) usageOf(ctx context.Context, api *corev1.Pod, running []runtime.ID) (localstorage.Usage, error) {
	var names, dirs []string
	for c := range podspec.Containers(&api.Spec) {
		names = append(names, c.Name)
		dirs = append(dirs, e.logs.ContainerDir(api, c.Name))
	}
	onDisk := volumes.Pod{Pod: api, Dir: e.dirs.volumes(api.UID)}
	var emptyDirs []string
	for i := range api.Spec.Volumes {
		if v := &api.Spec.Volumes[i]; localstorage.OnDisk(v) {
			emptyDirs = append(emptyDirs, v.Name)
			dirs = append(dirs, onDisk.Path(v))
		}
	}
	measured, err := e.runtime.Measure(ctx, running, dirs)
	usage := localstorage.Usage{Containers: map[string]int64{}, EmptyDirs: map[string]int64{}}
	if err != nil {
		return usage, err
	}
	for i, id := range running {
		usage.Containers[id.Container] += measured.Roots[i]
	}
	for i, name := range names {
		usage.Containers[name] += measured.Dirs[i]
	}
	for i, name := range emptyDirs {
		usage.EmptyDirs[name] = measured.Dirs[len(names)+i]
	}
	return usage, nil
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
