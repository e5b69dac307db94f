package node

import (
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// pod is what the node knows of one pod.
//
// Event handlers write the fields of the first group; the one worker that has the pod writes the others. Everybody
// else reads under mu, and all writes happen under it.
type pod struct {
	uid types.UID

	mu sync.Mutex
	// api is the newest version known; nil if the API server never had the pod as far as we know.
	api *corev1.Pod
	// absent: the informer has shown that the API server has the pod no more.
	absent bool
	// finalObserved: the informer has shown the pod with a final status.
	finalObserved bool
	// stale: what the pod's volumes show may have changed, or what it waited for may be there.
	stale bool
	// eviction is why the pod is ended, once it is.
	eviction *lifecycle.Eviction
	// runtimeStatuses holds news of the runtime that no worker has seen.
	runtimeStatuses []runtime.Status
	// exitWaiters are closed when the attempt has ended.
	exitWaiters map[runtime.ID]chan struct{}

	restored      bool
	containers    map[string]lifecycle.History
	startFailures map[string]lifecycle.StartFailure
	tries         map[string]int
	// wantedSince is when a container was to be started that has not been yet.
	wantedSince map[string]time.Time
	refusal     *lifecycle.Refusal
	startTime   time.Time
	// waitingSince is when the pod began to wait for resources.
	waitingSince time.Time
	// taintedSince is when a taint was first seen that sends the pod away sooner or later.
	taintedSince time.Time
	// changedAt is since when the API server's status is out of date; zero if it is not.
	changedAt time.Time
	recorded  map[lifecycle.EventKey]bool
	// notFound: a write has shown that the API server has the pod no more.
	notFound bool
	// cleaned: runtime and disk hold nothing of the pod any more.
	cleaned bool
	// failures in a row to write.
	failures int
}

func newPod(uid types.UID) *pod {
	return &pod{uid: uid, containers: map[string]lifecycle.History{}}
}

// observe takes in a version of the pod, unless a newer one is known. It returns the one that was known before.
func (p *pod) observe(api *corev1.Pod) (before *corev1.Pod, changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before = p.api
	if before != nil && !newer(api, before) {
		return before, false
	}
	p.api = api
	return before, true
}

func newer(a, b *corev1.Pod) bool {
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err != nil || order > 0
}

// addRuntimeStatus takes in news of the runtime.
func (p *pod) addRuntimeStatus(s runtime.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runtimeStatuses = append(p.runtimeStatuses, s)
	if s.State != runtime.Exited {
		return
	}
	if c, ok := p.exitWaiters[s.ID]; ok {
		close(c)
		delete(p.exitWaiters, s.ID)
	}
}

// takeRuntimeStatuses empties the statuses.
func (p *pod) takeRuntimeStatuses() []runtime.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	statuses := p.runtimeStatuses
	p.runtimeStatuses = nil
	return statuses
}

// addAttempt files news under its container and returns the attempts that nobody will ask for again.
func (p *pod) addAttempt(s runtime.Status) (outdated []runtime.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.containers[s.Container]
	before := h.Previous
	h.Add(s)
	p.containers[s.Container] = h
	if before != nil && h.Previous != nil && h.Previous.Attempt > before.Attempt {
		outdated = append(outdated, before.ID)
	}
	return outdated
}

// attempts lists the ids of all attempts that the runtime may hold.
func (p *pod) attempts() []runtime.ID {
	var ids []runtime.ID
	for _, h := range p.containers {
		for _, s := range []*runtime.Status{h.Last, h.Previous} {
			if s != nil {
				ids = append(ids, s.ID)
			}
		}
	}
	return ids
}

func (p *pod) running() []lifecycle.History {
	var running []lifecycle.History
	for h := range maps.Values(p.containers) {
		if h.Running() {
			running = append(running, h)
		}
	}
	return running
}

// setStopBy notes until when a container has been given to end.
func (p *pod) setStopBy(container string, by time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.containers[container]
	h.StopBy = by
	p.containers[container] = h
}

// current returns the newest version, and whether the pod is gone from the API server.
func (p *pod) current() (api *corev1.Pod, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.api, p.absent || p.notFound
}

// firstTime tells whether this notice has not been given before.
func (p *pod) firstTime(key lifecycle.EventKey) bool {
	if p.recorded[key] {
		return false
	}
	if p.recorded == nil {
		p.recorded = map[lifecycle.EventKey]bool{}
	}
	p.recorded[key] = true
	return true
}

func (p *pod) markAbsent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.absent = true
}

func (p *pod) markStale() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stale = true
}
